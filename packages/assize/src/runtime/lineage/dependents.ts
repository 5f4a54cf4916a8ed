import type { Instant } from '#canon';
import type { Hash, LedgerStore, LogStore } from '#ledger';
import type { FactRow } from '#memory';
import { RuntimeError } from '../errors.ts';
import { entriesInOrder } from './entries-in-order.ts';
import { walkLineage } from './lineage.ts';
import { LinkReader } from './link-reader.ts';

/** An entry that derives from another entry, and the kind of derivation. */
export interface DependentEntry {
  readonly id: Hash;
  readonly trajectoryId: string;
  readonly seq: number;
  readonly at: Instant;
  readonly action: string;
  /**
   * `belief`: its facts derive from the entry. `recall`: its proposal observed facts that derive
   * from it.
   */
  readonly how: readonly ('belief' | 'recall')[];
  /** The entries that it directly derives from. */
  readonly from: readonly Hash[];
}

/**
 * Every commit that derives from an entry, over any number of steps, oldest first: by the
 * provenance of its facts, and by the recalls that it observed. Reads the whole store. A commit
 * cannot be found by a recall that was erased.
 *
 * @throws RuntimeError `not_found`, `bad_argument` for a store without a log; LedgerFault for an
 * altered entry or a missing blob
 */
export async function dependentsOf(
  store: LedgerStore,
  entryId: Hash,
): Promise<readonly DependentEntry[]> {
  if ((await store.resolve(entryId)) === undefined)
    throw new RuntimeError('not_found', `The store has no entry ${entryId}.`, {
      evidence: { id: entryId },
    });
  const { affected } = await walkLineage(withLog(store), {
    startIn: ({ id }) => id === entryId,
    through: new Set(['belief', 'recall']),
  });
  return affected
    .filter(({ kind, isStart }) => kind === 'commit' && !isStart)
    .map(({ id, trajectoryId, seq, at, action = '', from }) => ({
      ...{ id, trajectoryId, seq, at, action },
      how: [...new Set(from.map(({ how }) => how as 'belief' | 'recall'))].sort(),
      from: [...new Set(from.map(({ entry }) => entry))].sort(),
    }))
    .sort(byTime);
}

/**
 * Every commit that used one of these versions of facts, over any number of steps, oldest first: a
 * commit that observed a version is followed by those that observed a fact that rests on it. Other
 * facts of the same entries do not count, unlike in `dependentsOf`. Reads the whole store.
 *
 * @throws as `dependentsOf`, without `not_found`
 */
export async function dependentsOfVersions(
  store: LedgerStore,
  versions: readonly Pick<FactRow, 'fact_id' | 'system_time_start'>[],
): Promise<readonly DependentEntry[]> {
  const reader = new LinkReader(store);
  /** The used rows, with the dependent commits that each rests on. */
  const used = new Map(
    versions.map((key): [string, readonly Hash[]] => [
      `${key.system_time_start} ${key.fact_id}`,
      [],
    ]),
  );
  const dependent = new Set<Hash>();
  const found: DependentEntry[] = [];
  for await (const page of entriesInOrder(withLog(store)))
    for (const row of page) {
      if (row.kind !== 'commit') continue;
      const { id, trajectoryId, seq, at, marks, observed, rows } = await reader.read(row);
      const seen = observed.filter((each) => used.has(each.row));
      if (seen.length > 0) dependent.add(id);
      for (const { row: written, writes } of rows) {
        const on = writes.flatMap(({ entry }) => (dependent.has(entry) ? [entry] : []));
        if (on.length > 0 && !used.has(written)) used.set(written, on);
      }
      if (seen.length === 0) continue;
      const from = [...new Set(seen.flatMap((each) => used.get(each.row) ?? []))].sort();
      const action = marks.find(({ kind }) => kind === 'action')?.value ?? '';
      found.push({ id, trajectoryId, seq, at, action, how: ['recall'], from });
    }
  return found.sort(byTime);
}

/** Only the log has the entries of all trajectories in an order in which they derive. */
function withLog(store: LedgerStore): LedgerStore & LogStore {
  if (typeof (store as Partial<LogStore>).logSize === 'function')
    return store as LedgerStore & LogStore;
  throw new RuntimeError(
    'bad_argument',
    'The store keeps no log (LogStore), so derivations are unknown. Use a store with a log.',
  );
}

function byTime(a: DependentEntry, b: DependentEntry): number {
  return a.at < b.at ? -1 : a.at > b.at ? 1 : a.seq - b.seq;
}
