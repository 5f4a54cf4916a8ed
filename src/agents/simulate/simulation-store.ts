import type { EffectKeyRow, EntryRow, Hash, Lease, LoggedTransaction } from '#ledger';
import { ReplayStore } from '../replay-store.ts';
import type { SimulationSource } from './options.ts';

/**
 * A copy in memory of the first entries of a trajectory, for one branch. Values, facts, other
 * trajectories and earlier transactions are read from the source, as of the last shared entry.
 */
export class SimulationStore extends ReplayStore {
  readonly #source: SimulationSource['store'];

  constructor({ store, trajectoryId }: Pick<SimulationSource, 'store' | 'trajectoryId'>, length: number) {
    super(store, trajectoryId, length);
    this.#source = store;
  }

  /** Adds the shared entries. */
  async begin(rows: readonly EntryRow[]): Promise<void> {
    await this.commit({ entries: [...rows], blobs: [] });
  }

  override async effectKey(key: Hash): Promise<EffectKeyRow | undefined> {
    return (await super.effectKey(key)) ?? this.#source.effectKey?.(key);
  }

  override async effectsOf(epoch: number): Promise<LoggedTransaction | undefined> {
    return (await super.effectsOf(epoch)) ?? this.#source.effectsOf?.(epoch);
  }

  /** The epochs of the branch follow all epochs of the source, so that none means two things. */
  override async leaseEffects(signal?: AbortSignal): Promise<Lease> {
    const lease = await super.leaseEffects(signal);
    const [last] = (await this.#source.listEffects?.({ limit: 1 })) ?? [];
    return { ...lease, lastEpoch: Math.max(lease.lastEpoch, last?.epoch ?? 0) };
  }
}
