import type { Hash } from './entry.ts';
import type { BlobRow } from './store.ts';

/** A transaction of tools, from its first record on (decisions §5). */
export interface EffectTransactionRow {
  /** Over all trajectories of a store, from 1, given once. They may be begun in another order. */
  readonly epoch: number;
  readonly trajectory_id: string;
  /** Canonical text of what it is and may touch; see `effects/log.ts`. */
  readonly body: string;
}

/** What was recorded of a transaction at once. */
export interface EffectRecordRow {
  readonly epoch: number;
  /** Its place in the log of its transaction, from 0, without gaps. */
  readonly place: number;
  /** Canonical text. */
  readonly record: string;
}

/** An effect's idempotency key, which stands for one effect for ever, and is never let go. */
export interface EffectKeyRow {
  readonly key: Hash;
  readonly epoch: number;
  /** The effect's place among the calls of its transaction. */
  readonly n: number;
}

/**
 * What is written of effects in one transaction of the store, alone or with a batch of entries: all of it or nothing, in the
 * order of the members. What is there already, word for word, is left as it is, so that a write may be repeated.
 *
 * Records and keys are of a transaction that is open, begun before or here. What does not fit is misuse, and an error
 * (`store_invalid_input`): an epoch that was begun as another transaction, or never; a place that would leave a gap, or has
 * another text; anything new for a transaction that has ended.
 */
export interface EffectWrite {
  /** Of the tenure under which it is written, from 1: nothing is written under one after which another was given. */
  readonly fence: number;
  readonly begun?: readonly EffectTransactionRow[];
  readonly records?: readonly EffectRecordRow[];
  readonly keys?: readonly EffectKeyRow[];
  /** Epochs of transactions that have ended: they are open no more. */
  readonly ended?: readonly number[];
}

/**
 * `fenced`: another tenure was given since. `taken`: the key stands for another effect already, in the store or earlier in the
 * write. Nothing of it was written in both cases. Where a write is refused for several reasons, a `conflict` of its batch
 * among them, which of them is named is left to the store; who is fenced never hears of misuse.
 */
export type EffectRefusal =
  | { readonly status: 'fenced' }
  | { readonly status: 'taken'; readonly key: Hash; readonly epoch: number; readonly n: number };

/** A transaction as the log has it. */
export interface LoggedTransaction extends EffectTransactionRow {
  /** In order. */
  readonly records: readonly string[];
}

/** The right to work on the effects of a store, which one has at a time. It ends with the process. */
export interface Tenure {
  /** Greater with every tenure, from 1. */
  readonly fence: number;
  /** No transaction in the store has a greater epoch. */
  readonly lastEpoch: number;
  /** Lets the next one have it; safe to call twice. Does nothing once it has ended otherwise. */
  release(): Promise<void>;
}

/**
 * The effect log: what tools were asked to do and did, outside of the ledger, and what has not ended yet. Like a ledger it is
 * only ever added to; which transactions are open, and where a key was used, are indexes of it.
 */
export interface EffectStore {
  /**
   * Waits until nobody else works on effects here, also not through this handle, and has that to itself until `release`,
   * `close`, or the end of the process. A tenure can be lost before, with a connection or a file; its holder learns so by
   * `fenced`, as soon as another one was given.
   *
   * @throws the signal's reason; `store_closed` when the store is closed meanwhile
   */
  holdEffects(signal?: AbortSignal): Promise<Tenure>;
  /**
   * Durable when it answers. Blobs are stored once, with it. It goes together with the batches that wait.
   *
   * An error other than for misuse may leave in doubt whether it was written; it is harmless to send it again.
   */
  logEffects(write: EffectWrite, blobs?: readonly BlobRow[]): Promise<{ readonly status: 'written' } | EffectRefusal>;
  /** Transactions that have not ended, by epoch. */
  openEffects(): Promise<LoggedTransaction[]>;
  /** The transaction of that epoch, also when it has ended. */
  effectsOf(epoch: number): Promise<LoggedTransaction | undefined>;
  /** Where a key was used. */
  effectKey(key: Hash): Promise<EffectKeyRow | undefined>;
}
