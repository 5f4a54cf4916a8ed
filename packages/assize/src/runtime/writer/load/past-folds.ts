import { LruCache } from '#base';
import type { Hash, LedgerStore, Replayer } from '#ledger';
import type { Snapshots } from '../snapshots/snapshots.ts';
import { copyOf, type FoldedTrajectory, foldTrajectory } from './fold.ts';
import { valid } from './load.ts';

/** Entries of the past whose folds stay in memory. A person tries several proposals at one. */
const CACHED_MAX = 4;

/** Reads trajectories up to an entry of the past. */
export class PastFolds {
  readonly #store: Pick<LedgerStore, 'blob' | 'resolve'>;
  readonly #replayer: Replayer;
  readonly #snapshots: Snapshots;
  readonly #folds: LruCache<Promise<FoldedTrajectory>> = new LruCache(CACHED_MAX);

  constructor(
    store: Pick<LedgerStore, 'blob' | 'resolve'>,
    replayer: Replayer,
    snapshots: Snapshots,
  ) {
    this.#store = store;
    this.#replayer = replayer;
    this.#snapshots = snapshots;
  }

  /**
   * A copy that the receiver may change. A fold from before an erasure is not used again.
   *
   * @throws RuntimeError `not_found`, `invalid_ledger`
   */
  async at(trajectoryId: string, entryId: Hash): Promise<FoldedTrajectory> {
    const erasures = await this.#snapshots.erasures(trajectoryId);
    // Without their number, no later call knows of an erasure.
    if (erasures === undefined) return this.#read(trajectoryId, entryId);
    const key = `${trajectoryId} ${entryId} ${erasures}`;
    try {
      return copyOf(await this.#folds.get(key, () => this.#read(trajectoryId, entryId)));
    } catch (error) {
      this.#folds.delete(key);
      throw error;
    }
  }

  async #read(trajectoryId: string, entryId: Hash): Promise<FoldedTrajectory> {
    const row = await this.#store.resolve(entryId);
    const from =
      row?.trajectory_id === trajectoryId
        ? await this.#snapshots.find(trajectoryId, row.seq)
        : undefined;
    // A snapshot of the entry itself needs no further entry.
    if (from !== undefined && from.chain.head === entryId) return from;
    const until = { until: entryId };
    const options = from === undefined ? until : { ...until, from };
    return valid(() => foldTrajectory(trajectoryId, this.#replayer, this.#store, options));
  }
}
