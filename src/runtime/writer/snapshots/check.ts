import type { LedgerStore, Replayer, SnapshotRow } from '#ledger';
import { foldTrajectory } from '../fold.ts';
import { isUsed, parseSnapshot, snapshotOf } from './snapshot.ts';

/**
 * What is wrong with a snapshot of a trajectory that verifies: it is written anew from the entries, and must be the same text.
 * Undefined also for one of another version, which nobody reads.
 *
 * @throws LedgerFault where the trajectory does not verify any more
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
  return snapshotOf(folded)?.text === row.text ? undefined : 'it is not what the entries come to';
}
