import { arg } from '#base';
import { type Instant, maxInstant } from '#canon';
import type { StatementAuthor, StatementMetadata } from '#kernel';
import {
  type CommitPayload,
  type EntryRow,
  type Hash,
  isHash,
  type LedgerStore,
  readRow,
} from '#ledger';
import {
  type FactRow,
  MemoryError,
  readTrust,
  readWitness,
  type Trust,
  type Witness,
} from '#memory';
import { type NotedStatement, notedStatements, tokensOf, writeIn } from '../plan/stated-writes.ts';
import { NAME } from './keys.ts';

/** The origin of a version of a fact. */
export interface Explained {
  readonly fact: FactRow;
  /** All versions of its claim, oldest first. */
  readonly versions: readonly FactRow[];
  /** Contradictions of the claim, oldest first: the losing assertion and the reason. */
  readonly contradictions: readonly Contradiction[];
  /**
   * The commits that it derives from, by its versions, its provenance and human decisions, oldest
   * first.
   */
  readonly entries: readonly ExplainingEntry[];
  /** The statements that this version rests on, with their sources. */
  readonly sources: readonly FactSource[];
  /** The policies, judge votes and approvers that chose this version. */
  readonly trust: readonly Trust[];
}

/** A statement behind a fact. */
export interface FactSource {
  readonly entry: Hash;
  /** The number of the statement in its entry. */
  readonly n: number;
  /** Absent if the statement names none, was erased, or belongs to an action of the domain. */
  readonly source?: string;
  /** Absent for the same reasons, or if the statement has none. */
  readonly metadata?: StatementMetadata;
  /** Absent for the same reasons: the author is unknown. */
  readonly author?: StatementAuthor;
}

export interface Contradiction {
  readonly fact: FactRow;
  readonly witness: Witness | 'erased';
  /**
   * For a human decision (`await`): the last approving counselor, the kind of counselor, and the
   * commit.
   */
  readonly decided?: { readonly entry: Hash; readonly principal: string; readonly as: string };
}

export interface ExplainingEntry {
  readonly id: Hash;
  readonly trajectoryId: string;
  readonly seq: number;
  readonly at: Instant;
  readonly action: string;
  readonly writ: Hash;
}

/** A version of a fact, as a recall returned it. */
export type RecalledFact = Pick<FactRow, 'subject' | 'predicate' | 'fact_id' | 'system_time_start'>;

export const RECALLED_FACT = arg.members({
  subject: NAME,
  predicate: NAME,
  fact_id: arg.text,
  system_time_start: arg.text,
});

/**
 * The origin of a fact. `all`: every row of its subject and predicate.
 *
 * @throws MemoryError `not_found`; LedgerFault
 */
export async function originOf(
  { fact_id, system_time_start }: RecalledFact,
  all: readonly FactRow[],
  store: LedgerStore,
): Promise<Explained> {
  const found = all.find(
    (row) => row.fact_id === fact_id && row.system_time_start === system_time_start,
  );
  if (found === undefined)
    throw new MemoryError(
      'not_found',
      'The memory has no such version of a fact. Pass a fact that a recall returned.',
      {
        evidence: { fact_id, system_time_start },
      },
    );
  const versions = all.filter((row) => row.row_kind === 'current' && row.lineage === found.lineage);
  const lost = all.flatMap((row) => {
    if (row.row_kind !== 'audit') return [];
    const witness = witnessOf(row);
    const isOfIt =
      witness === 'erased'
        ? row.lineage === found.lineage
        : witness.members.some(isClaim(found.lineage));
    return isOfIt ? [{ fact: row, witness }] : [];
  });
  const contradictions = await Promise.all(
    lost.map(async (each): Promise<Contradiction> => {
      const decided = await decisionOn(store, each.fact);
      return decided === undefined ? each : { ...each, decided };
    }),
  );
  const ids = new Set([
    ...[...versions, found].flatMap(({ entry_id, provenance_id }) => [
      entry_id,
      ...writesIn(provenance_id),
    ]),
    ...contradictions.flatMap(({ decided }) => (decided === undefined ? [] : [decided.entry])),
  ]);
  const tokens = tokensOf(found.provenance_id);
  return {
    fact: found,
    versions,
    contradictions,
    entries: await entriesOf(store, ids),
    sources: sourcesOf(found, await notedStatements(store, [found])),
    trust: tokens.flatMap((token) => readTrust(token) ?? []),
  };
}

/** The commit that recorded the losing assertion is the approval of the deciding counselor. */
async function decisionOn(
  store: LedgerStore,
  { entry_id, resolution_strategy_id }: FactRow,
): Promise<Contradiction['decided']> {
  if (resolution_strategy_id !== 'await') return undefined;
  const row = await store.resolve(entry_id);
  if (row?.kind !== 'commit') return undefined;
  const { counselor } = readRow(row).payload as CommitPayload;
  return counselor && { entry: row.id, principal: counselor.principal, as: counselor.as };
}

async function entriesOf(store: LedgerStore, ids: Iterable<Hash>): Promise<ExplainingEntry[]> {
  const rows = await Promise.all([...ids].map((id) => store.resolve(id)));
  const entries = rows
    .filter((row): row is EntryRow => row?.kind === 'commit')
    .map((row) => {
      const { at, action, writ_id: writ } = readRow(row).payload as CommitPayload;
      return {
        id: row.id,
        trajectoryId: row.trajectory_id,
        seq: row.seq,
        at,
        action: action.name,
        writ,
      };
    });
  return entries.sort((a, b) =>
    a.at === b.at ? a.seq - b.seq : maxInstant(a.at, b.at) === a.at ? 1 : -1,
  );
}

/** No witness starts so. */
function witnessOf(row: FactRow): Witness | 'erased' {
  return row.object.startsWith('{"$erased":') ? 'erased' : readWitness(row);
}

function isClaim(claim: string) {
  return (member: { readonly claim: string; readonly rows: readonly FactRow[] }): boolean =>
    member.claim === claim || member.rows.some(({ lineage }) => lineage === claim);
}

/** The statements that a version rests on. */
export function sourcesOf(
  { provenance_id }: Pick<FactRow, 'provenance_id'>,
  stated: ReadonlyMap<string, NotedStatement>,
): FactSource[] {
  return tokensOf(provenance_id).flatMap((token) => sourceOf(token, stated) ?? []);
}

function sourceOf(
  token: string,
  stated: ReadonlyMap<string, NotedStatement>,
): FactSource | undefined {
  const write = writeIn(token);
  if (write === undefined) return undefined;
  const { source, metadata, author } = stated.get(token) ?? {};
  return {
    ...write,
    ...(source !== undefined && { source }),
    ...(metadata !== undefined && { metadata }),
    ...(author !== undefined && { author }),
  };
}

/** The entries of the writes that a provenance names, also in a form that is not a polynomial. */
function writesIn(provenance: string): Hash[] {
  return [...provenance.matchAll(/w:([0-9a-f]{64})#/g)].map(([, id]) => id as Hash).filter(isHash);
}
