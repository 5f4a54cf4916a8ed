import type {
  BatchClock,
  BlobRow,
  EffectWrite,
  EntryRow,
  FactWrite,
  Hash,
  PendingPayload,
} from '#ledger';
import type { BatchErasure } from '../records/entry-payloads.ts';
import type { OpenQuestions } from '../records/questions.ts';
import type { SliceUpdates } from './listeners/subscriptions.ts';

/** Entries that the chain in memory accepted, and the answer for when they are durable. */
export interface PreparedCommit<Answer> {
  /** The first entry belongs to this trajectory. The others are written in the same batch. */
  readonly rows: readonly [EntryRow, ...EntryRow[]];
  readonly blobs: readonly BlobRow[];
  /** The values that the entries erase. */
  readonly erasure?: BatchErasure | undefined;
  /** The effect-log writes of the same batch. */
  readonly effects?: EffectWrite | undefined;
  /** The fact writes of the same batch. */
  readonly facts?: readonly FactWrite[] | undefined;
  /** The questions about facts that the batch asks. */
  readonly asked?: OpenQuestions | undefined;
  /** The host's clock. The store checks it. */
  readonly clock?: BatchClock | undefined;
  /** The store's refusal of the clock leads to another attempt at the store's time. */
  readonly undelayed?: true;
  readonly answer: Answer;
  /** For subscribers, when the entries are durable. */
  readonly sliceUpdates: SliceUpdates;
  /** The pending proposal that the first entry resolves. */
  readonly resolves?: Hash;
  /** That proposal, if the process is traced. */
  readonly waited?: PendingPayload;
  /** Further entries of this trajectory, and the pending proposals that the entries resolve. */
  readonly closing?: readonly Closing[];
}

/** An entry that resolves a pending proposal. */
export interface Closing {
  readonly row: EntryRow;
  readonly resolves: Hash;
  readonly waited?: PendingPayload | undefined;
}

/**
 * How often a proposal that lost to another writer is prepared again before it is abandoned. The
 * limit is high for a reason: a writer that never lost asks for no write lock until another has won
 * once.
 */
export const COMMIT_ATTEMPTS_MAX = 32;
