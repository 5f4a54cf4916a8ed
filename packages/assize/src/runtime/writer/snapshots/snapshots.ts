import { thrownText } from '#base';
import type { LedgerStore, SnapshotRow, SnapshotStore } from '#ledger';
import { RuntimeError } from '../../errors.ts';
import { reportFailure } from '../../records/report-failure.ts';
import type { FoldedTrajectory } from '../load/fold.ts';
import { readSnapshot, type SnapshotKeys, type SnapshotSource, snapshotOf } from './snapshot.ts';

/**
 * Number of new entries after which a snapshot is written. Fewer entries replay in some tens of
 * milliseconds.
 */
export const SNAPSHOT_AFTER = 2_000;

/**
 * Maximum size of a snapshot, in bytes per entry since the last snapshot. Half a kilobyte is built,
 * written and read again in about the time that replaying one entry takes. So a large state gets a
 * snapshot only after enough entries to be worth it, and the cost of snapshots stays in proportion
 * to the number of entries.
 */
export const BYTES_AN_ENTRY = 512;

/**
 * The same when the runtime closes. A process writes the last snapshot once, and each process that
 * opens the trajectory reads it, so a larger one is worth it.
 */
const BYTES_AN_ENTRY_AT_CLOSE: number = 4 * BYTES_AN_ENTRY;

/** Notified of a failed snapshot. Nothing else fails because of it. */
export type SnapshotListener = (error: RuntimeError) => void;

/**
 * The snapshots of one runtime. A snapshot is read when a trajectory is opened. It is written after
 * many entries were replayed or added. Nothing ever fails because of a snapshot: the error is
 * reported, and the trajectory is replayed.
 */
export class Snapshots {
  readonly #store: SnapshotStore | undefined;
  readonly #ledger: LedgerStore;
  readonly #listener: SnapshotListener | undefined;
  /** Number of entries in the stored snapshot, by trajectory; 0 without a snapshot. */
  readonly #lengths: Map<string, number> = new Map();
  /** Number of entries from which on a snapshot is tried again, by trajectory. */
  readonly #nextAttempts: Map<string, number> = new Map();
  readonly #underWay: Set<Promise<void>> = new Set();
  readonly #keys: SnapshotKeys;
  #bytesAnEntry: number = BYTES_AN_ENTRY;

  constructor(
    store: SnapshotStore | undefined,
    ledger: LedgerStore,
    listener: SnapshotListener | undefined,
    keys: SnapshotKeys = {},
  ) {
    this.#keys = keys;
    this.#store = store;
    this.#ledger = ledger;
    this.#listener = listener;
  }

  /** The fold of the snapshot, if a valid one exists at or before the entry with that seq. */
  async find(
    trajectoryId: string,
    seq: number = Number.POSITIVE_INFINITY,
  ): Promise<FoldedTrajectory | undefined> {
    if (this.#store === undefined) return undefined;
    try {
      const row = await this.#store.snapshot(trajectoryId);
      if (row === undefined || row.seq > seq) return undefined;
      const found = await readSnapshot(row, this.#ledger, this.#keys);
      this.#lengths.set(trajectoryId, found?.chain.seq ?? 0);
      return found;
    } catch (error) {
      this.refuse(trajectoryId, error);
      return undefined;
    }
  }

  /**
   * The number of erasures, to be read before a fold starts: values erased in the meantime must not
   * return with a snapshot. Undefined if the number is unavailable; no snapshot is written then.
   */
  async erasures(trajectoryId: string): Promise<number | undefined> {
    if (this.#store === undefined) return undefined;
    try {
      return await this.#store.erasures();
    } catch (error) {
      this.#tell(failed(trajectoryId, 'is not written', error));
      return undefined;
    }
  }

  /** After an erasure: a snapshot store other than the ledger's own was not notified of it. */
  async drop(trajectoryId: string): Promise<void> {
    this.#lengths.clear();
    const isOwn = (this.#store as unknown) === this.#ledger;
    if (isOwn || this.#store === undefined || this.#store.readonly) return;
    try {
      await this.#store.dropSnapshots();
    } catch (error) {
      this.#tell(
        failed(trajectoryId, 'could not be dropped and may still contain erased values', error),
      );
    }
  }

  /** Reports that the snapshot does not match these entries. */
  refuse(trajectoryId: string, cause: unknown): void {
    this.#lengths.delete(trajectoryId);
    this.#tell(failed(trajectoryId, 'is not used, so the trajectory was replayed', cause));
  }

  /** Whether a trajectory has enough new entries for a new snapshot. */
  isDue(trajectoryId: string, entries: number): boolean {
    return this.#store?.readonly === false && this.#since(trajectoryId, entries) > SNAPSHOT_AFTER;
  }

  /**
   * The same while entries are added. The next attempt follows after twice as many entries, because
   * the state may be too large for a snapshot.
   */
  isDueAgain(trajectoryId: string, entries: number): boolean {
    return (
      entries >= (this.#nextAttempts.get(trajectoryId) ?? 0) && this.isDue(trajectoryId, entries)
    );
  }

  /**
   * Writes a snapshot, if one is due, of a fold that was read from the store alone. The text is
   * made before this returns, because the fold changes later. It is put into the store in the
   * background.
   */
  leave(folded: FoldedTrajectory, erasures: number | undefined): void {
    const row = erasures === undefined ? undefined : this.rowOf(folded);
    if (row !== undefined) this.later(row.trajectory_id, () => this.put(row, erasures as number));
  }

  /** The snapshot of a fold or of memory, if one is due. Undefined also if it would be too long. */
  rowOf(source: SnapshotSource): SnapshotRow | undefined {
    const { trajectoryId, seq } = source.chain;
    if (!this.isDue(trajectoryId, seq)) return undefined;
    const since = this.#since(trajectoryId, seq);
    this.#nextAttempts.set(trajectoryId, seq + since);
    try {
      return snapshotOf(source, this.#bytesAnEntry * since, this.#keys);
    } catch (error) {
      this.#tell(failed(trajectoryId, 'could not be serialised', error));
      return undefined;
    }
  }

  /** Puts a snapshot into the store, unless values were erased since its source was read. */
  async put(row: SnapshotRow, erasures: number): Promise<void> {
    await this.#store?.putSnapshot(row, erasures);
    this.#lengths.set(row.trajectory_id, row.seq + 1);
    this.#nextAttempts.delete(row.trajectory_id);
  }

  /** Runs work on a trajectory's snapshot in the background. Only `settled` waits for it. */
  later(trajectoryId: string, work: () => Promise<void>): void {
    const done = work().catch((error: unknown) =>
      this.#tell(failed(trajectoryId, 'was not written', error)),
    );
    this.#underWay.add(done);
    void done.finally(() => this.#underWay.delete(done));
  }

  /** From now on snapshots may be larger, because the runtime closes. */
  closing(): void {
    this.#bytesAnEntry = BYTES_AN_ENTRY_AT_CLOSE;
  }

  /** Resolves when no work is in flight. */
  async settled(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all(this.#underWay);
  }

  #tell(error: RuntimeError): void {
    reportFailure(this.#listener, error);
  }

  #since(trajectoryId: string, entries: number): number {
    return entries - (this.#lengths.get(trajectoryId) ?? 0);
  }
}

function failed(trajectoryId: string, what: string, cause: unknown): RuntimeError {
  const why = thrownText(cause);
  return new RuntimeError('background_failed', `The snapshot of ${trajectoryId} ${what}: ${why}`, {
    evidence: { trajectory_id: trajectoryId },
    cause,
  });
}
