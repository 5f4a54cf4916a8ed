import { isAssizeError, type Json } from '#base';
import type { Instant } from '#canon';
import { type CommitPayload, type Hash, isBlobRef, type LedgerStore, type Replayer, readRow } from '#ledger';
import type { FactRow } from '#memory';
import { RuntimeError } from '../../errors.ts';
import { SHARED, type VisibilityChain, VisibilityChains } from '../visible/visibility.ts';

/** An entry that derives from another entry, and the kind of derivation. */
export interface DependentEntry {
  readonly id: Hash;
  readonly trajectoryId: string;
  readonly seq: number;
  readonly at: Instant;
  readonly action: string;
  /**
   * `belief`: its facts derive from the entry. `used`: its proposal observed facts that derive from
   * it.
   */
  readonly how: readonly ('belief' | 'recall')[];
  /** The entries that it directly derives from. */
  readonly from: readonly Hash[];
}

const PAGE = 1_000;

/**
 * Every commit that derives from an entry, over any number of steps, oldest first: by the
 * provenance of its facts, and by the recalls that it observed. Reads the whole store. A commit
 * cannot be found by a recall that was erased.
 *
 * @throws RuntimeError `not_found`; LedgerFault for a missing blob
 */
export async function dependentsOf(
  { store, replayer }: { readonly store: LedgerStore; readonly replayer: Replayer },
  entryId: Hash,
): Promise<readonly DependentEntry[]> {
  if ((await store.resolve(entryId)) === undefined)
    throw new RuntimeError('not_found', `The store has no entry ${entryId}.`, { evidence: { id: entryId } });
  const commits = new Map<Hash, Commit>();
  const lines = new VisibilityChains(store);
  /** By row and memory: the shared memory, or that of a branch. */
  const writers = new Map<string, Map<string | undefined, Hash>>();
  for (const { trajectory_id } of await store.trajectories())
    for await (const commit of commitsOf(trajectory_id, store, replayer)) {
      commits.set(commit.entry.id, commit);
      if (commit.wrote.length === 0) continue;
      const [{ branch }] = await lines.of(trajectory_id);
      for (const row of commit.wrote) writers.set(row, (writers.get(row) ?? new Map()).set(branch, commit.entry.id));
    }
  const followers = new Map<Hash, Map<Hash, Set<DependentEntry['how'][number]>>>();
  const follows = (id: Hash, from: Hash | undefined, how: DependentEntry['how'][number]): void => {
    if (from === undefined || from === id) return;
    const of = followers.get(from) ?? new Map();
    followers.set(from, of.set(id, (of.get(id) ?? new Set()).add(how)));
  };
  for (const [id, { restsOn, observed }] of commits) {
    for (const from of restsOn) follows(id, from, 'belief');
    for (const { row, branch } of observed) {
      const by = writers.get(row);
      const line = by === undefined || branch === undefined ? SHARED : await lineOf(branch, lines);
      const level = line.find((each) => by?.has(each.branch));
      follows(id, level && by?.get(level.branch), 'recall');
    }
  }
  return reached(entryId, followers, commits);
}

/**
 * Every commit that used one of these versions of facts, over any number of steps, oldest first: a
 * commit that observed a version is followed by those that observed a version that it wrote. Other
 * facts of the same entries do not count, unlike in `dependentsOf`. Reads the whole store.
 *
 * @throws LedgerFault for a missing blob
 */
export async function dependentsOfVersions(
  { store, replayer }: { readonly store: LedgerStore; readonly replayer: Pick<Replayer, 'values'> },
  versions: readonly VersionKey[],
): Promise<readonly DependentEntry[]> {
  const reached = new Map(versions.map((key): [string, Hash | undefined] => [rowKey(key), undefined]));
  const commits: Commit[] = [];
  for (const { trajectory_id } of await store.trajectories())
    for await (const commit of commitsOf(trajectory_id, store, replayer)) commits.push(commit);
  const found = new Map<Hash, DependentEntry>();
  for (let before = -1; before < found.size; ) {
    before = found.size;
    for (const { entry, observed, wrote } of commits) {
      const used = observed.filter(({ row }) => reached.has(row));
      if (used.length === 0 || found.has(entry.id)) continue;
      const from = new Set(used.flatMap(({ row }) => reached.get(row) ?? []));
      found.set(entry.id, { ...entry, how: ['recall'], from: [...from].sort() });
      for (const row of wrote) if (!reached.has(row)) reached.set(row, entry.id);
    }
  }
  return [...found.values()].sort(byTime);
}

/** The key of a version of a fact. */
type VersionKey = Pick<FactRow, 'fact_id' | 'system_time_start'>;

function rowKey({ fact_id, system_time_start }: VersionKey): string {
  return `${system_time_start} ${fact_id}`;
}

function byTime(a: DependentEntry, b: DependentEntry): number {
  return a.at < b.at ? -1 : a.at > b.at ? 1 : a.seq - b.seq;
}

interface Commit {
  readonly entry: Omit<DependentEntry, 'how' | 'from'>;
  /** Rows that it wrote, by key. */
  readonly wrote: readonly string[];
  readonly restsOn: ReadonlySet<Hash>;
  /** Rows that it observed, by key, with the memory of the recall. */
  readonly observed: readonly { readonly row: string; readonly branch: string | undefined }[];
}

async function* commitsOf(
  trajectoryId: string,
  store: LedgerStore,
  replayer: Pick<Replayer, 'values'>,
): AsyncGenerator<Commit> {
  for (let from = 0; ; from += PAGE) {
    const rows = await store.entries(trajectoryId, { from, limit: PAGE });
    for (const row of rows) {
      if (row.kind !== 'commit') continue;
      const { at, action, delta, observations } = readRow(row).payload as CommitPayload;
      const { id, seq } = row;
      const inserted = delta.beliefs.flatMap(({ system_time, insert }) =>
        insert.map((each) => ({ ...each, system_time })),
      );
      const recalls = observations.filter(
        ({ name, value, oracle_key }) => name === 'recall' && value !== undefined && oracle_key === undefined,
      );
      const read = await Promise.all(
        recalls.map(({ value }) => (isBlobRef(value) ? replayer.values.value(row, value) : (value as Json))),
      );
      yield {
        entry: { id, trajectoryId, seq, at, action: action.name },
        wrote: inserted.map(({ fact_id, system_time }) => `${system_time} ${fact_id}`),
        restsOn: new Set(
          inserted.flatMap(({ provenance_id }) => [...provenance_id.matchAll(WRITE)].map(([, by]) => by!)),
        ),
        observed: read.flatMap(rowsOf),
      };
    }
    if (rows.length < PAGE) return;
  }
}

/** The token of a write of another entry, in a provenance. */
const WRITE = /w:([0-9a-f]{64})#/g;

/**
 * The rows that a recall claims to have returned. The requester supplies this data, so it may have
 * any form.
 */
function rowsOf(recall: Json): { row: string; branch: string | undefined }[] {
  const { rows, query } = (recall ?? {}) as { readonly rows?: unknown; readonly query?: { readonly branch?: unknown } };
  if (!Array.isArray(rows)) return [];
  const branch = typeof query?.branch === 'string' ? query.branch : undefined;
  return rows.flatMap((row) =>
    Array.isArray(row) && row.length === 2 ? [{ row: `${row[1]} ${row[0]}`, branch }] : [],
  );
}

/**
 * The visibility chain of a branch. For a name in a recall that is not a trajectory, only the
 * shared memory.
 */
async function lineOf(branch: string, lines: VisibilityChains): Promise<VisibilityChain> {
  try {
    return await lines.of(branch);
  } catch (error) {
    if (isAssizeError(error, 'not_found')) return SHARED;
    throw error;
  }
}

function reached(
  start: Hash,
  followers: ReadonlyMap<Hash, ReadonlyMap<Hash, ReadonlySet<DependentEntry['how'][number]>>>,
  commits: ReadonlyMap<Hash, Commit>,
): DependentEntry[] {
  const found = new Map<Hash, { how: Set<DependentEntry['how'][number]>; from: Set<Hash> }>();
  const queue = [start];
  for (let from = queue.shift(); from !== undefined; from = queue.shift())
    for (const [id, how] of followers.get(from) ?? []) {
      if (id === start) continue;
      const known = found.get(id);
      if (known === undefined) queue.push(id);
      const entry = known ?? { how: new Set(), from: new Set() };
      for (const way of how) entry.how.add(way);
      found.set(id, { how: entry.how, from: entry.from.add(from) });
    }
  return [...found]
    .map(([id, { how, from }]) => ({ ...commits.get(id)!.entry, how: [...how].sort(), from: [...from].sort() }))
    .sort(byTime);
}
