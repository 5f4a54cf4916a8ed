import { addMicros, type Instant } from '#canon';
import {
  type BeliefChange,
  type ErasedValue,
  type FactCardinality,
  type FactWrite,
  isFactStore,
  type LedgerStore,
  type PartitionName,
  type PartitionState,
  type Replayer,
  readRow,
  type SaltedRef,
} from '#ledger';

/** A partition that loses facts in an erasure, as the store has it before. */
export interface ErasedPartition {
  readonly name: PartitionName;
  readonly reference: SaltedRef;
  readonly cardinality: FactCardinality;
  readonly state: PartitionState;
}

/**
 * The partitions with names, objects or witnesses among the erased values. A partition with names
 * erased before is excluded, because no statement can concern it any more.
 *
 * @throws LedgerFault
 */
export async function partitionsToErase(
  { store, replayer }: { readonly store: LedgerStore; readonly replayer: Replayer },
  trajectoryId: string,
  values: readonly ErasedValue[],
): Promise<readonly ErasedPartition[]> {
  if (!isFactStore(store)) return [];
  const hashes = new Set(values.map(({ hash }) => hash));
  const changes = new Map<string, { readonly change: BeliefChange; readonly seq: number }>();
  for (const seq of new Set(values.map((value) => value.seq))) {
    const [row] = await store.entries(trajectoryId, { from: seq, limit: 1 });
    const payload = row && readRow(row).payload;
    if (payload?.kind !== 'commit') continue;
    for (const change of payload.delta.beliefs) {
      const isLosing = [change.partition, ...change.insert.map(({ object }) => object)].some(
        ({ $blob }) => hashes.has($blob),
      );
      if (isLosing) changes.set(change.partition.$blob, { change, seq });
    }
  }
  const losing: ErasedPartition[] = [];
  for (const { change, seq } of changes.values()) {
    const { partition: reference, cardinality } = change;
    const held = await replayer.values.read<never>(
      { trajectory_id: trajectoryId, seq },
      reference as never,
    );
    if (!('value' in held)) continue;
    const name: PartitionName = held.value;
    const state = await store.partition(name);
    // After an import without a rebuild, the facts may lack the partition.
    if (state?.names.hash === reference.$blob) losing.push({ name, reference, cardinality, state });
  }
  return losing;
}

/**
 * A new, empty version of each partition, for the commit and for the store. A plan in any process
 * that used erased data then fails its version check, and so cannot record that data again.
 */
export function planErasedChanges(
  losing: readonly ErasedPartition[],
  at: Instant,
): { readonly changes: readonly BeliefChange[]; readonly writes: readonly FactWrite[] } {
  const moved = losing.map(({ state, ...partition }) => ({
    ...partition,
    moved: {
      version: state.version + 1,
      system_time: at > state.latest ? at : addMicros(state.latest, 1),
      close: [],
      insert: [],
    },
  }));
  return {
    changes: moved.map(({ reference, cardinality, moved }) => ({
      partition: reference,
      cardinality,
      ...moved,
    })),
    writes: moved.map(({ name, reference: { $blob: hash, bytes }, moved }) => ({
      partition: name,
      names: { hash, bytes },
      ...moved,
    })),
  };
}
