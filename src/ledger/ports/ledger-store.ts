import type { BlobRow, ErasedAnswer, ErasedRow } from '../entry/blob-row.ts';
import type { EffectRefusal, EffectWrite } from '../entry/effect-rows.ts';
import type { EntryRow } from '../entry/entry.ts';
import type { FactWrite, Outdated } from '../entry/fact-rows.ts';
import type { Hash } from '../entry/hash.ts';
import type { Ahead, RowRange } from './parallel-reader.ts';

/** All that one proposal writes, in one transaction: the point of no return. */
export interface Batch {
  /** In order; each trajectory's entries contiguous from its head. An empty batch changes nothing. */
  readonly entries: readonly EntryRow[];
  /** Stored once; a blob that is already there is left as it is. */
  readonly blobs: readonly BlobRow[];
  /** Blobs whose text is deleted, or never taken in: a blob that was erased stays so. Snapshots are deleted with them. `scrub` follows. */
  readonly erased?: readonly ErasedRow[];
  /**
   * Answers of the oracle log whose text is deleted, or never taken in: one that was erased stays so, by who was first; only for a store
   * that is an `OracleStore`.
   */
  readonly erasedAnswers?: readonly ErasedAnswer[];
  /** What is written into the effect log with it, or nothing of both; only for a store that is an `EffectStore`. */
  readonly effects?: EffectWrite;
  /** What of beliefs changes with it, each partition once; only for a store that is a `FactStore`. */
  readonly facts?: readonly FactWrite[];
  /** Texts that its entries repeat in blobs of their own. Where one of them is erased by now, nothing of the batch is written (`outdated`). */
  readonly repeats?: readonly Hash[];
  /**
   * Its entries say what is believed, and come without facts, as those of an import do: facts are incomplete from this batch on, until they are
   * made anew (`FactStore.rebuildFacts`), and are kept until then (`FactStore.keepFacts`); only for a store that is a `FactStore`.
   */
  readonly awaitsFacts?: boolean;
}

/**
 * `committed`: durable. `conflict`: another writer has that `(trajectory, seq)` or that id; nothing of the batch was
 * written. `unknown`: the store can't tell; settle it with `resolve(id)` on a store opened anew, never by sending again blindly.
 */
export type CommitResult =
  | { readonly status: 'committed' }
  | { readonly status: 'conflict'; readonly trajectory_id: string; readonly seq: number }
  | { readonly status: 'unknown'; readonly cause: unknown }
  | EffectRefusal
  | Outdated;

export interface TrajectoryInfo {
  readonly trajectory_id: string;
  /** Number of entries; the head has seq `entries - 1`. */
  readonly entries: number;
  readonly head: Hash;
}

/** A hash in the Merkle log over all entries: of the full subtree `index` of 2^level leaves. */
export interface LogNode {
  readonly level: number;
  readonly index: number;
  readonly hash: Uint8Array;
}

/** Entries that get the next places in the log, and the nodes above the leaves that become full with them. */
export interface LogStep {
  /** Of the log before. */
  readonly size: number;
  readonly leaves: readonly { readonly id: Hash; readonly hash: Uint8Array }[];
  readonly nodes: readonly LogNode[];
}

/**
 * The places of entries in the store's Merkle log (RFC 6962). They are given after the commits, by one integrator at a time,
 * so that appends do not queue for them; what a leaf or node must be is not judged here.
 */
export interface LogStore {
  /** Number of entries that have a place. */
  logSize(): Promise<number>;
  /**
   * Committed entries that have none yet, at most `limit`, in an order that is for ever: no entry that commits later comes
   * before one of these. Entries of one trajectory come by seq.
   */
  unlogged(limit: number): Promise<EntryRow[]>;
  /** Gives places; in one transaction. False, and nothing written, where the log has another size by now. */
  integrate(step: LogStep): Promise<boolean>;
  /** Hashes of leaves (level 0) or of full subtrees, as they were given: that many from an index on, each where there is one. */
  logNodes(level: number, from: number, count: number): Promise<(Uint8Array | undefined)[]>;
  /** The place of an entry. */
  logIndex(id: Hash): Promise<number | undefined>;
  /** Entries in the order of the log, from a place on. */
  logged(from: number, limit: number): Promise<EntryRow[]>;
}

/** A folded trajectory as it stood after one entry, written down: a cache, which nothing depends on. */
export interface SnapshotRow {
  readonly trajectory_id: string;
  /** Of the last entry that is folded into it. */
  readonly seq: number;
  /** SHA-256 of the text, as it was when it was put. */
  readonly hash: Hash;
  readonly text: string;
}

/**
 * Where snapshots are kept, so that opening a trajectory need not replay all of it. Any of them may be lost at any time.
 * Neither export nor import, nor the Merkle log, nor verification looks at them.
 */
export interface SnapshotStore {
  /** Nothing is put into a store that is only read. */
  readonly readonly: boolean;
  /**
   * Keeps it in place of the one before of that trajectory. Not kept: one of a trajectory that is not there, and one whose
   * fold began when there were not as many erasures as there are, because it may hold what is erased now.
   */
  putSnapshot(row: SnapshotRow, erasures: number): Promise<void>;
  /** How many blobs were erased so far; to be asked before anything is folded. */
  erasures(): Promise<number>;
  /** The one that was put last, exactly as it was put. */
  snapshot(trajectoryId: string): Promise<SnapshotRow | undefined>;
  /** Deletes all, of every trajectory: what is erased from the store must not live on in them. */
  dropSnapshots(): Promise<void>;
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
  /** The text of a blob, exactly as stored; undefined too for one that was erased. */
  blob(hash: Hash): Promise<string | undefined>;
  /** The entry that erased a blob, if one has. */
  erasedBy(hash: Hash): Promise<Hash | undefined>;
  /** Entries whose id begins with the hex prefix (8 to 64 digits), at most 2: for people who type ids. */
  find(prefix: string): Promise<EntryRow[]>;
  /** Optional: has the entries of these ranges checked in another thread, while they are replayed from the front. */
  checkAhead?(ranges: readonly RowRange[]): Ahead;
  /**
   * Optional: waits for a turn at writing to a trajectory, which is given to one at a time of all processes that ask for it,
   * and answers with what ends it; with nothing after a second or so, and where turns can't be had now. A turn ends with its
   * process too. A courtesy that spares those who ask work in vain; commits are decided as ever, whoever's turn it is.
   */
  turn?(trajectoryId: string): Promise<(() => void) | undefined>;
  /**
   * Optional: after commits that erased, once for all of them, and before anybody is told that it is gone. Settles when no byte of what was
   * erased is left in the store's own files, where deleting alone does not see to that; what somebody still reads in goes when they have
   * ended. Does nothing where nothing is due. What is cut off is gone on with when the store is opened for writing.
   *
   * @throws what says that the erasure is committed, that bytes of it may be left, and what to do about it
   */
  scrub?(): Promise<void>;
  /** Optional: what is wrong with the database itself, and rows that nothing leads to; for `fsck`. */
  selfCheck?(): Promise<string[]>;
  /** Waits for what is queued, then frees the file or connection. Safe to call twice. */
  close(): Promise<void>;
}
