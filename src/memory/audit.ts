import { form, isAssizeError, type Json, requireForm } from '#base';
import { hashText, parseCanonical, plainText, WORLD_LIMITS } from '#canon';
import { placedProvenance } from '#ledger';
import { MemoryError } from './errors.ts';
import { checkFact, type FactRow, type MergeProvenance, type Provenance, THIS_ENTRY } from './fact.ts';
import type { Group } from './group.ts';
import type { Member } from './question.ts';
import { type Contest, memberOf } from './settle.ts';
import type { Strategy } from './strategy.ts';

/**
 * Why who lost lost, and all that was there to choose from: the object of an audit row, as canonical JSON. Rows of the commit that
 * wrote it name it as `THIS_ENTRY`. Where rows were given as erased, so they are here.
 */
export interface Witness {
  readonly resolution_id: string;
  readonly strategy: Strategy;
  /** The request hash R. */
  readonly request: string;
  /** The claims of those two members. */
  readonly winner: string;
  readonly loser: string;
  /** In canonical order, each with its rows in full. */
  readonly members: readonly Member[];
  /** Of the answer, where one was asked for. */
  readonly theta?: string;
  readonly judge?: string;
  readonly policy?: string;
}

/**
 * One row for each loser of a contest: believed of nobody, in the segment that was contested, from now on (memory.md §5.4 no. 11). Its
 * provenance is the sum over all members, and so dominates each (seed Theorem 7, Prop. 14).
 */
export function auditRows(
  contest: Contest,
  nth: number,
  stamp: Pick<
    FactRow,
    'system_time_start' | 'system_time_end' | 'entry_id' | 'seq' | 'resolution_strategy_id' | 'cardinality'
  >,
  merge: MergeProvenance,
): FactRow[] {
  const { segment, winner, losers, question, answer } = contest;
  const { theta, judge, policy } = answer ?? {};
  const { system_time_start } = stamp;
  const resolution_id = hashText(plainText({ request: question.request, segment, system_time_start }));
  const provenance_id = mergedProvenance([winner, ...losers], merge);
  return losers.map((loser) => {
    // In canonical order, as rows are: so its text takes half the time.
    const witness: Witness = {
      ...(judge !== undefined && { judge }),
      loser: memberOf(loser).claim,
      members: question.members,
      ...(policy !== undefined && { policy }),
      request: question.request,
      resolution_id,
      strategy: stamp.resolution_strategy_id,
      ...(theta !== undefined && { theta }),
      winner: memberOf(winner).claim,
    };
    const { row } = loser.head;
    return {
      ...row,
      ...stamp,
      fact_id: `audit::${row.fact_id}::${system_time_start}::${nth}`,
      object: plainText(witness, WORLD_LIMITS),
      valid_from: segment.from,
      valid_to: segment.to,
      provenance_id,
      confidence: loser.confidence,
      row_kind: 'audit',
      resolution_id,
    };
  });
}

/** The sum over all that takes part, in an order that depends on nothing else. */
export function mergedProvenance(groups: readonly Pick<Group, 'items'>[], merge: MergeProvenance): Provenance {
  const terms = groups.flatMap(({ items }) => items.map(({ row }) => row.provenance_id));
  return terms.sort().reduce(merge);
}

/** Characters from which on the provenance of what is believed grows no more: 32 writes of other entries. */
const CONFIRMED_MAX = 2_200;

/**
 * Of what is believed: the sum over all that says so, of what was believed before first, as far as it is not that long already. So each
 * confirmation takes as much as the one before; a claim that is left out of the sum is named in its entry, as merged.
 */
export function confirmedProvenance(items: Group['items'], merge: MergeProvenance): Provenance {
  const terms = (isNew: boolean): Provenance[] =>
    items.flatMap((item) => (item.isNew === isNew ? [item.row.provenance_id] : [])).sort();
  return [...terms(false), ...terms(true)].reduce((sum, next) => (sum.length < CONFIRMED_MAX ? merge(sum, next) : sum));
}

/**
 * The witness of an audit row: what lost, in full, also when everything else of it is closed. Rows of the commit that wrote it
 * are placed: they have the `entry_id` of the audit row, also in their provenance.
 * @throws MemoryError `bad_witness` for a current row, or an object that is no witness; as `checkFact` does
 */
export function readWitness(row: FactRow): Witness {
  checkFact(row);
  if (row.row_kind !== 'audit') throw badWitness('it is a current row');
  let witness: Json;
  try {
    witness = parseCanonical(row.object, WORLD_LIMITS);
  } catch (cause) {
    if (!isAssizeError(cause)) throw cause;
    throw badWitness('its object is not canonical JSON', cause);
  }
  try {
    requireForm(WITNESS, witness, 'witness');
  } catch (cause) {
    throw badWitness('its object lacks members', cause);
  }
  return placedWitness(witness as unknown as Witness, row.entry_id);
}

function placedWitness(witness: Witness, entryId: string): Witness {
  const placed = (row: FactRow): FactRow =>
    row.entry_id === THIS_ENTRY
      ? { ...row, entry_id: entryId, provenance_id: placedProvenance(row.provenance_id, entryId) }
      : row;
  const members = witness.members.map((member) => ({ ...member, rows: member.rows.map(placed) }));
  return { ...witness, members };
}

const ROW = form.members({ entry_id: form.text, provenance_id: form.text });

const WITNESS = form.members({
  resolution_id: form.text,
  strategy: form.text,
  request: form.text,
  winner: form.text,
  loser: form.text,
  members: form.list(form.members({ claim: form.text, object: form.text, rows: form.list(ROW) })),
});

function badWitness(why: string, cause?: unknown): MemoryError {
  return new MemoryError('bad_witness', `Nothing can be read from this row: ${why}.`, { cause });
}
