import { isAssizeError } from '#base';
import { plainText } from '#canon';
import { type BeliefChange, inheritanceOf } from '#ledger';
import { type Ask, MemoryError, type Plan } from '#memory';
import type { Source } from './partition-cache.ts';

// What an entry holds of what is believed, and what is refused because none does: by name, before anybody is asked, and before anything is written.

/** Characters of an entry that changes may have, which has 1,048,576 bytes and has to say who proposed what besides. */
const ENTRY_ROOM = 1_000_000;
/** Changes with fewer rows are in an entry what they are, and not measured. */
const MEASURED_FROM = 100;
/** Characters of a row in an entry beside its provenance, of a key that is closed, and of a change beside its rows: at most. */
const ROW_MOST = 1_000;
const KEY_MOST = 200;
const CHANGE_MOST = 400;

/**
 * Refuses plans of one commit of which some wait for answers, where there may be answers by which no entry holds them: nobody is to be asked
 * in vain. `inherited`: characters of what branches begin with.
 * @throws MemoryError `too_much_at_once`
 */
export function requireAnswerable(plans: readonly (Plan | Ask)[], inherited: number): void {
  if (plans.every(({ kind }) => kind === 'plan')) return;
  if (plans.reduce((sum, plan) => sum + mostOf(plan), inherited) <= ENTRY_ROOM) return;
  throw new MemoryError(
    'too_much_at_once',
    'So much has to be chosen there at once that no entry may hold what comes of it; say it in smaller groups, or of shorter periods.',
  );
}

function mostOf(plan: Plan | Ask): number {
  if (plan.kind === 'ask') return plan.most;
  const rows = plan.insert.reduce((sum, { provenance_id }) => sum + ROW_MOST + provenance_id.length, 0);
  return CHANGE_MOST + rows + plan.close.length * KEY_MOST;
}

/**
 * Characters that an entry takes for what a branch's partition begins with, which its first change there has in full; 0 where it inherits nothing.
 * @throws MemoryError `too_much_inherited` where no entry holds it
 */
export function inheritedRoom(predicate: string, source: Source | undefined): number {
  if (source?.until === undefined) return 0;
  const { until, open } = source;
  if (open.length < MEASURED_FROM) return open.length * ROW_MOST;
  const characters = lengthOf(inheritanceOf(until, open));
  if (characters !== undefined && characters <= ENTRY_ROOM) return characters;
  throw new MemoryError(
    'too_much_inherited',
    `The branch begins with ${open.length} facts of one subject under ${predicate}, which no entry holds: none of them can be changed there, nor others be added. Say it where the branch comes from.`,
    { evidence: { predicate, facts: open.length } },
  );
}

/** @throws MemoryError `too_much_at_once` for more than an entry holds */
export function requireHeld(changes: readonly BeliefChange[]): void {
  const rows = changes.reduce(
    (sum, { insert, close, inherit }) => sum + insert.length + close.length + (inherit?.rows.length ?? 0),
    0,
  );
  if (rows < MEASURED_FROM || (lengthOf(changes) ?? Number.POSITIVE_INFINITY) <= ENTRY_ROOM) return;
  throw new MemoryError(
    'too_much_at_once',
    'What is said at once changes more than one entry holds; say it in smaller groups, or of shorter periods.',
  );
}

/** Characters of its text; undefined where an entry may not have as many. */
function lengthOf(value: unknown): number | undefined {
  try {
    return plainText(value as never).length;
  } catch (error) {
    if (!isAssizeError(error, 'too_large')) throw error;
    return undefined;
  }
}
