import { arg, checkArgument, isAssizeError, type Json } from '#base';
import { hashText, parseCanonical, plainText, WORLD_LIMITS } from '#canon';
import { placedProvenance } from '#ledger';
import { MemoryError } from './errors.ts';
import { checkFact, type FactRow, THIS_ENTRY } from './fact.ts';
import type { Member } from './question.ts';
import { type Annotating, type Contest, memberOf } from './settle.ts';
import type { Strategy } from './strategy.ts';
import { mergedProvenance } from './sum-provenance.ts';

/**
 * The reason for a lost contradiction, with all candidates: the object of an audit row, as
 * canonical JSON. Rows of the same commit name their entry as `THIS_ENTRY`. Rows given as erased
 * are erased here too.
 */
export interface Witness {
  readonly resolution_id: string;
  readonly strategy: Strategy;
  /** The request hash R. */
  readonly request: string;
  /** The claims of the winning and the losing member. */
  readonly winner: string;
  readonly loser: string;
  /** In canonical order, each with its complete rows. */
  readonly members: readonly Member[];
  /** The hash of the answer's parameters, if a judge answered. */
  readonly theta?: string;
  readonly judge?: string;
  readonly policy?: string;
}

/**
 * One audit row for each loser of a contest, in the contested segment, from now on
 * (docs/decisions/017-memory.md). Its provenance is the sum over all members, and so dominates each
 * (TOKI Theorem 7, Prop. 14). A chosen winner is multiplied with the trust in
 * the answer.
 */
export function auditRows(
  contest: Contest,
  nth: number,
  stamp: Pick<
    FactRow,
    | 'system_time_start'
    | 'system_time_end'
    | 'entry_id'
    | 'seq'
    | 'resolution_strategy_id'
    | 'cardinality'
  >,
  { merge, trust }: Annotating,
): FactRow[] {
  const { segment, winner, losers, question, answer } = contest;
  const { theta, judge, policy } = answer ?? {};
  const { system_time_start } = stamp;
  const resolution_id = hashText(
    plainText({ request: question.request, segment, system_time_start }),
  );
  const won = mergedProvenance([winner], merge);
  const chosen = answer === undefined || trust === undefined ? won : trust(won, answer);
  const provenance_id = merge(chosen, mergedProvenance(losers, merge));
  return losers.map((loser) => {
    // In canonical order, as rows are. This halves the time to write the text.
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

/**
 * The witness of an audit row: the complete losing rows, even after they were closed. Rows of the
 * same commit have the `entry_id` of the audit row, also in their provenance.
 * @throws MemoryError `damaged` for a current row, or an object that is not a witness; the errors
 * of `checkFact`
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
    checkArgument(WITNESS, witness, 'witness');
  } catch (cause) {
    throw badWitness('its object lacks fields', cause);
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

const ROW = arg.members({ entry_id: arg.text, provenance_id: arg.text });

const WITNESS = arg.members({
  resolution_id: arg.text,
  strategy: arg.text,
  request: arg.text,
  winner: arg.text,
  loser: arg.text,
  members: arg.list(arg.members({ claim: arg.text, object: arg.text, rows: arg.list(ROW) })),
});

function badWitness(why: string, cause?: unknown): MemoryError {
  return new MemoryError(
    'damaged',
    `The audit row is not valid: ${why}. Restore it from a backup, or rebuild memory.`,
    { cause },
  );
}
