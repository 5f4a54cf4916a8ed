import type { LedgerStore, SnapshotRow, SnapshotStore } from '#ledger';
import { RuntimeError } from '../../errors.ts';
import { tellFailure } from '../../records/tell-failure.ts';
import type { FoldedTrajectory } from '../fold.ts';
import { readSnapshot, snapshotOf } from './snapshot.ts';

/** A snapshot is left when so many entries have come since the last one: fewer are replayed in some tens of milliseconds. */
export const SNAPSHOT_AFTER = 2_000;

/**
 * How long a snapshot may be, for each entry that has come since the last one. Half a kilobyte is written, put and read again
 * in about the time in which an entry is replayed. So of a large world a snapshot is left only after as many entries as make
 * it worth while, and what is spent on snapshots stays in proportion to what happens.
 */
export const BYTES_AN_ENTRY = 512;

/** Told of what went wrong with a snapshot; nothing else does for it. */
export type SnapshotListener = (error: RuntimeError) => void;

/**
 * The snapshots of one runtime: found when a trajectory is opened, left behind when many entries had to be replayed for it, or
 * were added. Nothing ever fails for one: it is told, and the trajectory replayed.
 */
export class Snapshots {
  readonly #store: SnapshotStore | undefined;
  readonly #ledger: LedgerStore;
  readonly #listener: SnapshotListener | undefined;
  /** How many entries are in the snapshot that the store has, by trajectory; without one, 0. */
  readonly #lengths: Map<string, number> = new Map();
  readonly #underWay: Set<Promise<void>> = new Set();

  constructor(store: SnapshotStore | undefined, ledger: LedgerStore, listener: SnapshotListener | undefined) {
    this.#store = store;
    this.#ledger = ledger;
    this.#listener = listener;
  }

  /** What the snapshot says was folded, where there is one that holds and stands at or before the entry with that seq. */
  async find(trajectoryId: string, seq: number = Number.POSITIVE_INFINITY): Promise<FoldedTrajectory | undefined> {
    if (this.#store === undefined) return undefined;
    try {
      const row = await this.#store.snapshot(trajectoryId);
      if (row === undefined || row.seq > seq) return undefined;
      const found = await readSnapshot(row, this.#ledger);
      this.#lengths.set(trajectoryId, found?.chain.seq ?? 0);
      return found;
    } catch (error) {
      this.refuse(trajectoryId, error);
      return undefined;
    }
  }

  /**
   * How many erasures there are, to be asked before anything is folded: what is erased meanwhile must not come back with a
   * snapshot. Undefined where nobody can tell, and none is left then.
   */
  async erasures(trajectoryId: string): Promise<number | undefined> {
    if (this.#store === undefined) return undefined;
    try {
      return await this.#store.erasures();
    } catch (error) {
      this.#tell(failed(trajectoryId, 'is not left', error));
      return undefined;
    }
  }

  /** After an erasure: a store of snapshots that is not the ledger's own did not hear of it. */
  async drop(trajectoryId: string): Promise<void> {
    this.#lengths.clear();
    const isOwn = (this.#store as unknown) === this.#ledger;
    if (isOwn || this.#store === undefined || this.#store.readonly) return;
    try {
      await this.#store.dropSnapshots();
    } catch (error) {
      this.#tell(failed(trajectoryId, 'may still have what was erased, and could not be dropped', error));
    }
  }

  /** The snapshot that was found turned out not to be one of these entries. */
  refuse(trajectoryId: string, cause: unknown): void {
    this.#lengths.delete(trajectoryId);
    this.#tell(failed(trajectoryId, 'is not used, and the trajectory was replayed', cause));
  }

  /** Whether a trajectory has so many entries that a new snapshot is worth trying. */
  isDue(trajectoryId: string, entries: number): boolean {
    return this.#store?.readonly === false && this.#since(trajectoryId, entries) > SNAPSHOT_AFTER;
  }

  /**
   * Leaves a snapshot, where one is due, of what was folded from the store and from nothing else. It is written down before
   * this returns, as what was folded goes on to change, and put into the store later.
   */
  leave(folded: FoldedTrajectory, erasures: number | undefined): void {
    const { trajectoryId, seq } = folded.chain;
    if (erasures === undefined || !this.isDue(trajectoryId, seq)) return;
    let row: SnapshotRow | undefined;
    try {
      row = snapshotOf(folded, BYTES_AN_ENTRY * this.#since(trajectoryId, seq));
    } catch (error) {
      this.#tell(failed(trajectoryId, 'could not be written down', error));
    }
    if (row !== undefined) this.later(trajectoryId, () => this.#put(row, erasures));
  }

  /** Does something about the snapshot of a trajectory that nobody waits for but `settled`. */
  later(trajectoryId: string, work: () => Promise<void>): void {
    const done = work().catch((error: unknown) => this.#tell(failed(trajectoryId, 'was not left', error)));
    this.#underWay.add(done);
    void done.finally(() => this.#underWay.delete(done));
  }

  /** Settles when nothing is under way any more. */
  async settled(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all(this.#underWay);
  }

  async #put(row: SnapshotRow, erasures: number): Promise<void> {
    await this.#store?.putSnapshot(row, erasures);
    this.#lengths.set(row.trajectory_id, row.seq + 1);
  }

  #tell(error: RuntimeError): void {
    tellFailure(this.#listener, error);
  }

  #since(trajectoryId: string, entries: number): number {
    return entries - (this.#lengths.get(trajectoryId) ?? 0);
  }
}

function failed(trajectoryId: string, what: string, cause: unknown): RuntimeError {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new RuntimeError('snapshot_failed', `The snapshot of ${trajectoryId} ${what}: ${why}`, {
    evidence: { trajectory_id: trajectoryId },
    cause,
  });
}
