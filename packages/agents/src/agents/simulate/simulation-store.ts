import type {
  EffectKeyRow,
  Entry,
  EntryRow,
  Hash,
  Lease,
  LoggedTransaction,
} from 'assize/internal/ledger';
import { ReplayStore } from '../replay-store.ts';
import type { SimulationSource } from './options.ts';

/**
 * A copy in memory of the first entries of a trajectory, for one branch. Values, facts, other
 * trajectories and the transactions of the shared entries are read from the source. A key that the
 * record used later is free, because the branch may make that call again.
 */
export class SimulationStore extends ReplayStore {
  readonly #source: SimulationSource['store'];
  readonly #epochs: ReadonlySet<number>;
  /** The key of claims of this copy, if the source has none: no fact was stated there. */
  #claimKey: Uint8Array | undefined;

  constructor(
    { store, trajectoryId }: Pick<SimulationSource, 'store' | 'trajectoryId'>,
    shared: readonly Entry[],
  ) {
    super(store, trajectoryId, shared.length);
    this.#source = store;
    const epochs = shared.map(({ payload }) =>
      payload.kind === 'commit' ? payload.epoch : undefined,
    );
    this.#epochs = new Set(epochs.filter((epoch) => epoch !== undefined));
  }

  /** Adds the shared entries. */
  async begin(rows: readonly EntryRow[]): Promise<void> {
    await this.commit({ entries: [...rows], blobs: [] });
  }

  override async effectKey(key: Hash): Promise<EffectKeyRow | undefined> {
    const own = await super.effectKey(key);
    if (own !== undefined) return own;
    const there = await this.#source.effectKey?.(key);
    return there !== undefined && this.#epochs.has(there.epoch) ? there : undefined;
  }

  override async effectsOf(epoch: number): Promise<LoggedTransaction | undefined> {
    return this.#epochs.has(epoch) ? this.#source.effectsOf?.(epoch) : super.effectsOf(epoch);
  }

  override async claimKey(offered?: Uint8Array): Promise<Uint8Array> {
    this.#claimKey ??= (await this.#source.claimKey?.()) ?? offered;
    // The caller without an offer accepts undefined, as `FactStore` declares.
    return this.#claimKey as Uint8Array;
  }

  /** The epochs of the branch follow all epochs of the source, so that none means two things. */
  override async leaseEffects(signal?: AbortSignal): Promise<Lease> {
    const lease = await super.leaseEffects(signal);
    const [last] = (await this.#source.listEffects?.({ limit: 1 })) ?? [];
    return { ...lease, lastEpoch: Math.max(lease.lastEpoch, last?.epoch ?? 0) };
  }
}
