import type { DomainRef } from '#ledger';
import type { TrajectoryState } from '../ports.ts';
import type { Writer } from '../writer.ts';
import type { SnapshotSource } from './snapshot.ts';
import type { Snapshots } from './snapshots.ts';

/** Where a snapshot of memory goes. */
export type SnapshotSink = Pick<Snapshots, 'rowOf' | 'erasures' | 'put'>;

/**
 * Leaves a snapshot of the memory of an open trajectory, if one is due, without a replay. Returns
 * false if memory may not be kept: it is stale, lost an entry to another writer, or may have an
 * erased value.
 */
export async function leaveFromMemory(writer: Writer, snapshots: SnapshotSink): Promise<boolean> {
  const { generation, parts } = writer;
  const { erasures } = parts;
  if (writer.stale || erasures === undefined) return false;
  // Made immediately, because memory moves on. The store has the last entries of memory a moment
  // later.
  const row = snapshots.rowOf(sourceOf(parts));
  await writer.flushed();
  if (writer.stale || writer.generation !== generation) return false;
  if ((await snapshots.erasures(writer.id)) !== erasures) return false;
  if (row !== undefined) await snapshots.put(row, erasures);
  return true;
}

/** The memory of an open trajectory, as a fold of its entries would have it. */
export function sourceOf({
  chain,
  world,
  writs,
  requests,
  overrides,
}: TrajectoryState): SnapshotSource {
  const fold = { state: world.state };
  return {
    chain,
    fold,
    writs,
    requests,
    domain: chain.domain as DomainRef,
    overridden: overrides.stand,
  };
}
