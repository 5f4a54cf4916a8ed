import type { BlobRow, ErasedAnswer, ErasedRow } from '../entry/blob-row.ts';
import type { EffectRefusal, EffectWrite } from '../entry/effect-rows.ts';
import type { EntryRow, Instant } from '../entry/entry.ts';
import type { FactWrite, Outdated } from '../entry/fact-rows.ts';
import type { Hash } from '../entry/hash.ts';
import type { ParallelReader, RowRange } from './parallel-reader.ts';

/** All writes of one proposal, in one transaction: the point of no return. */
export interface Batch {
  /**
   * In order. Entries of each trajectory are contiguous from its head. An empty batch changes
   * nothing.
   */
  readonly entries: readonly EntryRow[];
  /** Stored once. A blob that already exists stays unchanged. */
  readonly blobs: readonly BlobRow[];
  /**
   * Blobs to erase. The store deletes their text, or refuses it later: an erased blob stays erased.
   * Snapshots are deleted with them. `scrub` must follow.
   */
  readonly erased?: readonly ErasedRow[];
  /**
   * Oracle answers to erase. The store deletes their text, or refuses it later. The first erasure
   * of an answer stays recorded. Only for a store that is an `OracleStore`.
   */
  readonly erasedAnswers?: readonly ErasedAnswer[];
  /**
   * A write to the effect log, atomic with the batch. Only for a store that is an `EffectStore`.
   */
  readonly effects?: EffectWrite;
  /** Changes of facts, each partition once. Only for a store that is a `FactStore`. */
  readonly facts?: readonly FactWrite[];
  /**
   * Texts that the batch's entries repeat in their own blobs. If one of them was erased, the store
   * writes nothing of the batch (`outdated`).
   */
  readonly repeats?: readonly Hash[];
  /**
   * The entries change facts but arrive without rows, as in an import. From this batch on, facts
   * are incomplete until a rebuild (`FactStore.rebuildFacts`), and the old facts are kept
   * (`FactStore.keepFacts`). Only for a store that is a `FactStore`.
   */
  readonly awaitsFacts?: boolean;
  /** The clock of the host that made the entries. Default: the store does not check it. */
  readonly clock?: BatchClock;
}

/**
 * The time that a host's clock read, and how far it may be ahead of the store's clock. The store's
 * clock is the clock of the database server, or of the machine for a store without a server.
 */
export interface BatchClock {
  readonly at: Instant;
  readonly maxAheadMs: number;
}

/**
 * `committed`: durable. `conflict`: another writer has that `(trajectory, seq)` or that id, and the
 * store wrote nothing of the batch. `ahead`: the host's clock is too far ahead of the store's clock
 * (`now`), and the store wrote nothing. `unknown`: the outcome is unknown. Check it with
 * `resolve(id)` on a newly opened store before sending the batch again.
 */
export type CommitResult =
  | { readonly status: 'committed' }
  | { readonly status: 'conflict'; readonly trajectory_id: string; readonly seq: number }
  | { readonly status: 'ahead'; readonly now: Instant }
  | { readonly status: 'unknown'; readonly cause: unknown }
  | EffectRefusal
  | Outdated;

export interface TrajectoryInfo {
  readonly trajectory_id: string;
  /** Number of entries; the head has seq `entries - 1`. */
  readonly entries: number;
  readonly head: Hash;
}

/** A hash of the Merkle log over all entries: the full subtree `index` of 2^level leaves. */
export interface LogNode {
  readonly level: number;
  readonly index: number;
  readonly hash: Uint8Array;
}

/** Entries that get the next positions in the log, and the nodes that they complete. */
export interface LogStep {
  /** The size of the log before the step. */
  readonly size: number;
  readonly leaves: readonly { readonly id: Hash; readonly hash: Uint8Array }[];
  readonly nodes: readonly LogNode[];
}

/**
 * The positions of entries in the store's Merkle log (RFC 6962). One integrator at a time assigns
 * them after the commits, so appends do not queue for them. The store does not validate leaves or
 * nodes.
 */
export interface LogStore {
  /** Number of entries with a position. */
  logSize(): Promise<number>;
  /**
   * Committed entries without a position, at most `limit`, in a permanent order. Entries that
   * commit later never precede them. Entries of one trajectory are sorted by seq.
   */
  unlogged(limit: number): Promise<EntryRow[]>;
  /**
   * Assigns positions in one transaction. Returns false and writes nothing if the log has another
   * size.
   */
  integrate(step: LogStep): Promise<boolean>;
  /**
   * Stored hashes of leaves (level 0) or of full subtrees: `count` hashes from an index on, each
   * undefined if missing.
   */
  logNodes(level: number, from: number, count: number): Promise<(Uint8Array | undefined)[]>;
  /** The position of an entry. */
  logIndex(id: Hash): Promise<number | undefined>;
  /** Entries in log order, from a position on. */
  logged(from: number, limit: number): Promise<EntryRow[]>;
}

/**
 * The folded state of a trajectory after one entry. Snapshots are a cache; nothing depends on them.
 */
export interface SnapshotRow {
  readonly trajectory_id: string;
  /** The seq of the last folded entry. */
  readonly seq: number;
  /** SHA-256 of the text at the time of the write. */
  readonly hash: Hash;
  readonly text: string;
}

/**
 * The cache of snapshots, with which a trajectory opens without a full replay. Any snapshot can
 * disappear at any time. Export, import, the Merkle log and verification ignore snapshots.
 */
export interface SnapshotStore {
  /** Whether the store is read-only. A read-only store refuses snapshots. */
  readonly readonly: boolean;
  /**
   * Stores the snapshot and replaces the trajectory's previous one. Ignored for a missing
   * trajectory. Also ignored if an erasure happened after the fold started, because the snapshot
   * may contain an erased value.
   */
  putSnapshot(row: SnapshotRow, erasures: number): Promise<void>;
  /** Number of erased blobs. Read it before a fold starts. */
  erasures(): Promise<number>;
  /** The latest snapshot, exactly as it was stored. */
  snapshot(trajectoryId: string): Promise<SnapshotRow | undefined>;
  /** Deletes the snapshots of all trajectories, so no erased value survives in them. */
  dropSnapshots(): Promise<void>;
}

/**
 * The store of entries. A store does not check chain rules; the callers check them before and
 * after. The store only compares and sets by `(trajectory_id, seq)` and keeps `id` unique. Reads
 * see committed entries only.
 */
export interface LedgerStore {
  /**
   * Resolves when the batch is durable, or earlier with an explicit durability option. Waiting
   * batches are written together.
   */
  commit(batch: Batch): Promise<CommitResult>;
  /** The entry with that id, if the store has it. Settles an unknown commit. */
  resolve(id: Hash): Promise<EntryRow | undefined>;
  /** Entries of one trajectory by seq, from `from` (default 0), at most `limit` (default 1,000). */
  entries(trajectoryId: string, options?: { from?: number; limit?: number }): Promise<EntryRow[]>;
  head(trajectoryId: string): Promise<EntryRow | undefined>;
  /** All trajectories in order of creation. */
  trajectories(): Promise<TrajectoryInfo[]>;
  /**
   * Optional: the names of at least the trajectories with an open pending entry or a halt, in order
   * of creation. It is found in the entries. It only saves work: the replay of a trajectory decides
   * whether an entry is open.
   */
  trajectoriesToReview?(): Promise<string[]>;
  /** Optional: the clock of the store's refusals, if that is not the host's clock. */
  time?(): Promise<Instant>;
  /** The exact stored text of a blob. Undefined for an erased blob. */
  blob(hash: Hash): Promise<string | undefined>;
  /** The entry that erased a blob, if the blob was erased. */
  erasedBy(hash: Hash): Promise<Hash | undefined>;
  /**
   * At most 2 entries with an id that starts with the hex prefix (8 to 64 digits), for ids that
   * humans type.
   */
  find(prefix: string): Promise<EntryRow[]>;
  /**
   * Optional: checks the entries of these ranges in a worker thread during a replay from the front.
   */
  readInParallel?(ranges: readonly RowRange[]): ParallelReader;
  /**
   * Optional: waits for the write lock of a trajectory. One holder has it at a time across all
   * processes. Returns the function that releases the lock. Returns undefined after about a second,
   * or if locks are unavailable. A lock also ends with its process. The lock is advisory: it saves
   * wasted work under contention, and commits still decide conflicts.
   */
  acquireWriteLock?(trajectoryId: string): Promise<(() => void) | undefined>;
  /**
   * Optional: removes erased bytes from the store's own files, if deletion alone does not. Call it
   * once after commits that erased, and before reporting the erasure. Bytes in open reads of other
   * connections go when those reads end. Does nothing if no scrub is due. An interrupted scrub
   * continues when the store is opened for writing.
   *
   * @throws an error that states that the erasure is committed, that bytes may be left, and the
   * next step
   */
  scrub?(): Promise<void>;
  /** Optional: faults of the database and unreachable rows, for `fsck`. */
  selfCheck?(): Promise<string[]>;
  /** Waits for queued work, then frees the file or connection. Safe to call twice. */
  close(): Promise<void>;
}
