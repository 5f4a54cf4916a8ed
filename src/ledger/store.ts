import type { Ahead, RowRange } from './ahead.ts';
import type { EntryRow, Hash } from './entry.ts';

/** A text stored once under the SHA-256 of its UTF-8 bytes. */
export interface BlobRow {
  readonly hash: Hash;
  readonly text: string;
}

/** All that one proposal writes, in one transaction: the point of no return. */
export interface Batch {
  /** In order; each trajectory's entries contiguous from its head. An empty batch changes nothing. */
  readonly entries: readonly EntryRow[];
  /** Stored once; a blob that is already there is left as it is. */
  readonly blobs: readonly BlobRow[];
}

/**
 * `committed`: durable. `conflict`: another writer has that `(trajectory, seq)` or that id; nothing of the batch was
 * written. `unknown`: the store can't tell; settle it with `resolve(id)` on a store opened anew, never by sending again blindly.
 */
export type CommitResult =
  | { readonly status: 'committed' }
  | { readonly status: 'conflict'; readonly trajectory_id: string; readonly seq: number }
  | { readonly status: 'unknown'; readonly cause: unknown };

export interface TrajectoryInfo {
  readonly trajectory_id: string;
  /** Number of entries; the head has seq `entries - 1`. */
  readonly entries: number;
  readonly head: Hash;
}

/**
 * Where entries live. A store never judges: chain rules are checked before and after, here only compare-and-set by
 * `(trajectory_id, seq)` and uniqueness of `id`. Reads see committed entries only.
 */
export interface LedgerStore {
  /** Answers when the disk has it (or when less was asked for by name). Batches that wait together go together. */
  commit(batch: Batch): Promise<CommitResult>;
  /** The entry with that id, if the store has it: settles an unknown commit. */
  resolve(id: Hash): Promise<EntryRow | undefined>;
  /** Entries of one trajectory in order of seq, from `from` (default 0), at most `limit` (default 1,000). */
  entries(trajectoryId: string, options?: { from?: number; limit?: number }): Promise<EntryRow[]>;
  head(trajectoryId: string): Promise<EntryRow | undefined>;
  /** All trajectories in order of creation. */
  trajectories(): Promise<TrajectoryInfo[]>;
  /** The text of a blob, exactly as stored. */
  blob(hash: Hash): Promise<string | undefined>;
  /** Entries whose id begins with the hex prefix (8 to 64 digits), at most 2: for people who type ids. */
  find(prefix: string): Promise<EntryRow[]>;
  /** Optional: has the entries of these ranges checked in another thread, while they are replayed from the front. */
  checkAhead?(ranges: readonly RowRange[]): Ahead;
  /** Waits for what is queued, then frees the file or connection. Safe to call twice. */
  close(): Promise<void>;
}
