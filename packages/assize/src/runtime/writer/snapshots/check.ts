import type { LedgerStore, Replayer, SnapshotRow } from '#ledger';
import { foldTrajectory } from '../load/fold.ts';
import { isUsed, jsonOf, parseSnapshot, snapshotOf } from './snapshot.ts';

/**
 * The fault of a snapshot of a verified trajectory. The snapshot is rebuilt from the entries and
 * must be the same string. Also undefined for a snapshot of another version, because that is never
 * read.
 *
 * @throws LedgerFault if the trajectory no longer verifies
 */
export async function snapshotFault(
  row: SnapshotRow,
  replayer: Replayer,
  store: LedgerStore,
): Promise<string | undefined> {
  try {
    if (!isUsed(parseSnapshot(row))) return undefined;
  } catch (error) {
    return (error as Error).message;
  }
  const [last] = await store.entries(row.trajectory_id, { from: row.seq, limit: 1 });
  if (last === undefined) return `the trajectory has no seq ${row.seq}`;
  const folded = await foldTrajectory(row.trajectory_id, replayer, store, { until: last.id });
  return snapshotOf(folded)?.text === jsonOf(row.text)
    ? undefined
    : 'it differs from the fold of the entries';
}
