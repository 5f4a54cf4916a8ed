import type { EntryRow, Hash, LedgerStore } from '#ledger';
import { MemoryStore } from '#stores';

/** Where a run is replayed from. Nothing is written to it. */
export type ReplayedLedger = Pick<LedgerStore, 'entries' | 'head' | 'resolve' | 'blob' | 'erasedBy'>;

/**
 * A ledger in memory that one trajectory is made again in. What it does not have itself of blobs and of other trajectories is
 * read from the ledger that is replayed; of the trajectory itself nothing is.
 */
export class ReplayStore extends MemoryStore {
  readonly #source: ReplayedLedger;
  readonly #trajectoryId: string;

  constructor(source: ReplayedLedger, trajectoryId: string) {
    super();
    this.#source = source;
    this.#trajectoryId = trajectoryId;
  }

  override async entries(trajectoryId: string, page?: { from?: number; limit?: number }): Promise<EntryRow[]> {
    return trajectoryId === this.#trajectoryId
      ? super.entries(trajectoryId, page)
      : this.#source.entries(trajectoryId, page);
  }

  override async head(trajectoryId: string): Promise<EntryRow | undefined> {
    return trajectoryId === this.#trajectoryId ? super.head(trajectoryId) : this.#source.head(trajectoryId);
  }

  override async resolve(id: Hash): Promise<EntryRow | undefined> {
    const own = await super.resolve(id);
    if (own !== undefined) return own;
    const there = await this.#source.resolve(id);
    return there?.trajectory_id === this.#trajectoryId ? undefined : there;
  }

  override async blob(hash: Hash): Promise<string | undefined> {
    return (await super.blob(hash)) ?? this.#source.blob(hash);
  }

  override async erasedBy(hash: Hash): Promise<Hash | undefined> {
    return (await super.erasedBy(hash)) ?? this.#source.erasedBy(hash);
  }
}
