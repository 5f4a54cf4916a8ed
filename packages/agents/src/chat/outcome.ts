import { type CommitPayload, readRow } from 'assize/internal/ledger';
import { type FactRow, type Member, OPEN_END, readWitness } from 'assize/internal/memory';
import { type Memory, RECALL_MAX, type Ruling } from 'assize/internal/runtime';
import type { ExtractedClaim } from '#agents';
import { isErasedText } from './erased.ts';

/** A fact of a message, under the names that the memory uses. */
export type StatedFact = ExtractedClaim;

/** The outcome of one fact of a commit. */
export type Outcome =
  | { readonly is: 'added' }
  | { readonly is: 'duplicate' }
  /** It replaced other facts, or ended them. */
  | { readonly is: 'changed'; readonly was: readonly string[] }
  /** It lost, and is on record as a loser. */
  | { readonly is: 'contradicted'; readonly by: readonly string[] }
  /** The same statement was withdrawn or retracted before. */
  | { readonly is: 'withdrawn' };

type Committed = Extract<Ruling, { readonly ruling: 'committed' }>;

/**
 * The outcome of each fact of a commit, from the versions that the commit wrote and closed.
 *
 * @throws the errors of `MemoryView.recall`
 */
export async function outcomesOf(
  facts: readonly StatedFact[],
  ruling: Committed,
  memory: Memory,
): Promise<readonly Outcome[]> {
  const { delta } = readRow(ruling.entry).payload as CommitPayload;
  const times = new Set(delta.beliefs.map(({ system_time }) => system_time));
  const rows = new Map<string, Promise<readonly FactRow[]>>();
  const rowsOf = ({ subject, predicate }: StatedFact): Promise<readonly FactRow[]> => {
    const key = JSON.stringify([subject, predicate]);
    const known = rows.get(key) ?? versionsOf(memory, subject, predicate);
    rows.set(key, known);
    return known;
  };
  return Promise.all(
    facts.map(async (fact) => {
      const all = await rowsOf(fact);
      if (ruling.unchanged) return outcomeBefore(fact, all);
      return outcomeOf(
        fact,
        all,
        all.filter(({ entry_id }) => entry_id === ruling.entry.id),
        all.filter((row) => row.row_kind === 'current' && times.has(row.system_time_end)),
      );
    }),
  );
}

/** All versions of a subject and predicate, up to `RECALL_MAX`. */
async function versionsOf(
  memory: Memory,
  subject: string,
  predicate: string,
): Promise<readonly FactRow[]> {
  const every = { kind: 'all', valid: 'any', system: 'any', limit: RECALL_MAX } as const;
  return (await memory.recall({ subject, predicate, ...every })).facts;
}

/** `wrote`: the rows of the commit. `closed`: the facts that it closed. */
function outcomeOf(
  fact: StatedFact,
  all: readonly FactRow[],
  wrote: readonly FactRow[],
  closed: readonly FactRow[],
): Outcome {
  const lost = wrote.flatMap((row) => (row.row_kind === 'audit' ? lossesIn(row) : []));
  const by = lost.filter(({ loser, winner }) => loser === fact.object && winner !== fact.object);
  const was = lost.filter(({ loser, winner }) => winner === fact.object && loser !== fact.object);
  if (by.length > 0 && was.length === 0)
    return { is: 'contradicted', by: [...new Set(by.map(({ winner }) => winner))] };
  if (was.length > 0) return { is: 'changed', was: [...new Set(was.map(({ loser }) => loser))] };
  if (fact.ends && lost.some(({ loser, isEnd }) => isEnd && loser === fact.object))
    return { is: 'contradicted', by: [fact.object] };
  const before = closed.filter(({ object }) => object === fact.object);
  if (fact.ends && before.length > 0) return { is: 'changed', was: [fact.object] };
  if (before.length > 0) return { is: 'duplicate' };
  const isNew = wrote.some(
    ({ object, row_kind }) => row_kind === 'current' && object === fact.object,
  );
  return isNew ? { is: 'added' } : outcomeBefore(fact, all);
}

/** The state of a fact that was stated before, so the commit wrote nothing for it. */
function outcomeBefore(fact: StatedFact, all: readonly FactRow[]): Outcome {
  const own = all.filter(
    ({ row_kind, object }) => row_kind === 'current' && object === fact.object,
  );
  const end = own.reduce(
    (last, { system_time_end }) => (system_time_end > last ? system_time_end : last),
    '',
  );
  if (end === OPEN_END) return { is: 'duplicate' };
  const by = all
    .filter((row) => row.row_kind === 'audit' && (end === '' || row.system_time_start === end))
    .flatMap(lossesIn)
    .filter(({ loser, winner }) => loser === fact.object && winner !== fact.object);
  if (by.length > 0)
    return { is: 'contradicted', by: [...new Set(by.map(({ winner }) => winner))] };
  return { is: 'withdrawn' };
}

function lossesIn(
  row: FactRow,
): { readonly loser: string; readonly winner: string; readonly isEnd: boolean }[] {
  if (isErasedText(row.object)) return [];
  const { winner, loser, members } = readWitness(row);
  const of = (claim: string): Member | undefined =>
    members.find((member) => member.claim === claim);
  const [lost, won] = [of(loser), of(winner)];
  if (lost === undefined || won === undefined) return [];
  return [{ loser: lost.object, winner: won.object, isEnd: lost.ends === true }];
}
