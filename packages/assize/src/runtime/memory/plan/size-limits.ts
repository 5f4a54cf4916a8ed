import { isAssizeError } from '#base';
import { plainText } from '#canon';
import { type BeliefChange, inheritanceOf } from '#ledger';
import { MemoryError, type Plan, type QuestionPlan } from '#memory';
import type { InheritedPartition } from './partition-cache.ts';

// The room for facts in an entry. Facts that no entry can hold are refused by name, before a
// question is asked and before anything is written.

/**
 * Characters available for fact changes in an entry. An entry has 1,048,576 bytes and also needs
 * room for the rest of the proposal.
 */
const ENTRY_CHARACTERS_MAX = 1_000_000;
/** Changes with fewer rows are not measured. */
const MEASURED_FROM = 100;
/**
 * Upper bound of the characters of a row without its provenance, of a closed key, and of a change
 * without its rows.
 */
const ROW_MOST = 1_000;
const KEY_MOST = 200;
const CHANGE_MOST = 400;

/**
 * Refuses plans with open questions if some answers could make a commit that no entry holds, so
 * that no counselor answers without success. `inherited`: characters of the rows that branches
 * inherit.
 *
 * @throws MemoryError `too_much_at_once`
 */
export function requireAnswerable(
  plans: readonly (Plan | QuestionPlan)[],
  inherited: number,
): void {
  if (plans.every(({ kind }) => kind === 'plan')) return;
  if (plans.reduce((sum, plan) => sum + mostOf(plan), inherited) <= ENTRY_CHARACTERS_MAX) return;
  throw new MemoryError(
    'too_much_at_once',
    'The contradictions do not fit into one entry. Assert fewer facts, or shorter periods, at a time.',
  );
}

function mostOf(plan: Plan | QuestionPlan): number {
  if (plan.kind === 'ask') return plan.most;
  const rows = plan.insert.reduce(
    (sum, { provenance_id }) => sum + ROW_MOST + provenance_id.length,
    0,
  );
  return CHANGE_MOST + rows + plan.close.length * KEY_MOST;
}

/**
 * Characters of the rows that a branch's partition inherits. Its first change records them in full.
 * 0 if it inherits nothing.
 *
 * @throws MemoryError `too_much_inherited` if no entry holds them
 */
export function inheritedSize(predicate: string, source: InheritedPartition | undefined): number {
  if (source?.until === undefined) return 0;
  const { until, open } = source;
  if (open.length < MEASURED_FROM) return open.length * ROW_MOST;
  const characters = lengthOf(inheritanceOf(until, open));
  if (characters !== undefined && characters <= ENTRY_CHARACTERS_MAX) return characters;
  throw new MemoryError(
    'too_much_inherited',
    `The branch inherits ${open.length} facts of one subject under ${predicate}, more than one entry holds. Make the change in the source trajectory.`,
    { evidence: { predicate, facts: open.length } },
  );
}

/** @throws MemoryError `too_much_at_once` if no entry holds the changes */
export function requireEntryFits(changes: readonly BeliefChange[]): void {
  const rows = changes.reduce(
    (sum, { insert, close, inherit }) =>
      sum + insert.length + close.length + (inherit?.rows.length ?? 0),
    0,
  );
  if (
    rows < MEASURED_FROM ||
    (lengthOf(changes) ?? Number.POSITIVE_INFINITY) <= ENTRY_CHARACTERS_MAX
  )
    return;
  throw new MemoryError(
    'too_much_at_once',
    'The statements change more facts than one entry holds. Assert fewer facts, or shorter periods, at a time.',
  );
}

/** Characters of its canonical text; undefined if an entry cannot hold that many. */
function lengthOf(value: unknown): number | undefined {
  try {
    return plainText(value as never).length;
  } catch (error) {
    if (!isAssizeError(error, 'too_large')) throw error;
    return undefined;
  }
}
