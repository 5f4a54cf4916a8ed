import { addMicros, type Instant } from '#canon';
import {
  type BeliefChange,
  type ErasedValue,
  type FactCardinality,
  isFactStore,
  type LedgerStore,
  type PartitionName,
  type PartitionState,
  type Replayer,
  readRow,
  type SaltedRef,
} from '#ledger';
import type { Believed } from './believe.ts';

/** A partition that an erasure takes something from, as the store has it before. */
export interface LosingPartition {
  readonly name: PartitionName;
  readonly reference: SaltedRef;
  readonly cardinality: FactCardinality;
  readonly state: PartitionState;
}

/**
 * The partitions whose names, objects or witnesses are among the values of an erasure. One whose names were erased before is none: nobody
 * can say anything of it any more.
 *
 * @throws LedgerFault
 */
export async function losingPartitions(
  { store, replayer }: { readonly store: LedgerStore; readonly replayer: Replayer },
  trajectoryId: string,
  values: readonly ErasedValue[],
): Promise<readonly LosingPartition[]> {
  if (!isFactStore(store)) return [];
  const hashes = new Set(values.map(({ hash }) => hash));
  const changes = new Map<string, { readonly change: BeliefChange; readonly seq: number }>();
  for (const seq of new Set(values.map((value) => value.seq))) {
    const [row] = await store.entries(trajectoryId, { from: seq, limit: 1 });
    const payload = row && readRow(row).payload;
    if (payload?.kind !== 'commit') continue;
    for (const change of payload.delta.beliefs) {
      const isLosing = [change.partition, ...change.insert.map(({ object }) => object)].some(({ $blob }) =>
        hashes.has($blob),
      );
      if (isLosing) changes.set(change.partition.$blob, { change, seq });
    }
  }
  const losing: LosingPartition[] = [];
  for (const { change, seq } of changes.values()) {
    const { partition: reference, cardinality } = change;
    const held = await replayer.values.held<never>({ trajectory_id: trajectoryId, seq }, reference as never);
    if (!('value' in held)) continue;
    const name: PartitionName = held.value;
    const state = await store.partition(name);
    // Facts that were not made anew since an import may lack it.
    if (state?.names.hash === reference.$blob) losing.push({ name, reference, cardinality, state });
  }
  return losing;
}

/**
 * Makes another version of each of them, with nothing in it: whoever has planned on what is erased, in whichever process, finds its plan
 * outdated, and would else write down again what it remembers.
 */
export function forgotten(losing: readonly LosingPartition[], at: Instant): Believed {
  const moved = losing.map(({ state: { version, latest }, ...partition }) => ({
    ...partition,
    version: version + 1,
    system_time: at > latest ? at : addMicros(latest, 1),
  }));
  return {
    changes: moved.map(({ reference, version, cardinality, system_time }) => ({
      partition: reference,
      version,
      cardinality,
      system_time,
      close: [],
      insert: [],
    })),
    accept: () =>
      moved.map(({ name, reference: { $blob: hash, bytes }, version, system_time }) => ({
        partition: name,
        names: { hash, bytes },
        version,
        system_time,
        close: [],
        insert: [],
      })),
  };
}
