import type { Hash } from './entry.ts';
import type { BlobRow } from './store.ts';

/** A transaction of tools, from its first record on (decisions §5). */
export interface EffectTransactionRow {
  /** Over all trajectories of a store, from 1, given once. */
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

/** What is written of effects in one transaction of the store, alone or with a batch of entries. */
export interface EffectWrite {
  /** Of the tenure under which it is written: nothing is written under one that another has ended. */
  readonly fence: number;
  readonly begun?: readonly EffectTransactionRow[];
  readonly records?: readonly EffectRecordRow[];
  readonly keys?: readonly EffectKeyRow[];
  /** Epochs of transactions that have ended: they are open no more. */
  readonly ended?: readonly number[];
}

/**
 * `fenced`: another process has taken over. `taken`: the key stands for another effect already. Nothing of it was written
 * in both cases.
 */
export type EffectRefusal =
  | { readonly status: 'fenced' }
  | { readonly status: 'taken'; readonly key: Hash; readonly epoch: number; readonly n: number };

/** A transaction as the log has it. */
export interface LoggedTransaction extends EffectTransactionRow {
  /** In order. */
  readonly records: readonly string[];
}

/** The right to work on the effects of a store, which one process has at a time. It ends with the process. */
export interface Tenure {
  /** Greater with every tenure. */
  readonly fence: number;
  /** No transaction in the store has a greater epoch. */
  readonly lastEpoch: number;
  /** Ends it; safe to call twice. */
  release(): Promise<void>;
}

/**
 * The effect log: what tools were asked to do and did, outside of the ledger, and what has not ended yet. Like a ledger it is
 * only ever added to; which transactions are open, and where a key was used, are indexes of it.
 */
export interface EffectStore {
  /**
   * Waits until no other process works on effects here, and has that to itself.
   * @throws the signal's reason
   */
  holdEffects(signal?: AbortSignal): Promise<Tenure>;
  /** Durable when it answers. Blobs are stored once, with it. */
  logEffects(write: EffectWrite, blobs?: readonly BlobRow[]): Promise<{ readonly status: 'written' } | EffectRefusal>;
  /** Transactions that have not ended, by epoch. */
  openEffects(): Promise<LoggedTransaction[]>;
  /** The transaction of that epoch, also when it has ended. */
  effectsOf(epoch: number): Promise<LoggedTransaction | undefined>;
  /** Where a key was used. */
  effectKey(key: Hash): Promise<EffectKeyRow | undefined>;
}
