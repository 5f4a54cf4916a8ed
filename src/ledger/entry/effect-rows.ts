import type { Hash } from './hash.ts';

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
  /**
   * Of the tenure or membership under which it is written, from 1: nothing is written under a tenure after which another was given,
   * or a membership that has ended.
   */
  readonly fence: number;
  readonly begun?: readonly EffectTransactionRow[];
  readonly records?: readonly EffectRecordRow[];
  readonly keys?: readonly EffectKeyRow[];
  /** Epochs of transactions that have ended: they are open no more. */
  readonly ended?: readonly number[];
}

/**
 * `fenced`: another tenure was given since, or the membership has ended. `taken`: the key stands for another effect already, in the store or earlier in the
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

/** Which transactions are listed. */
export interface EffectPage {
  /** Those of a lesser epoch than this; default: all. */
  readonly before?: number;
  /** At most so many, from 1. */
  readonly limit: number;
  /** Default: those of all trajectories. */
  readonly trajectoryId?: string;
}

/** Which of those that are open are wanted; what is left out restricts nothing. */
export interface OpenEffectPage {
  /** Those of a greater epoch than this. */
  readonly after?: number;
  /** At most so many, from 1. */
  readonly limit?: number;
  readonly trajectoryId?: string;
}

/** What a member says about its live work, to all who work on the effects of a store. */
export type Said =
  /** It gets the next epoch, and is registered with it at once. */
  | { readonly is: 'begun'; readonly claims: string }
  /** It claims more, or gives claims up. */
  | { readonly is: 'grown' | 'given'; readonly epoch: number; readonly claims: string }
  /** It waits for a person, and keeps these claims; by default all that it has. */
  | { readonly is: 'left'; readonly epoch: number; readonly claims?: string }
  /** `own`: this member goes on with what was left. `ended`: nothing of it is to be done any more. */
  | { readonly is: 'own' | 'ended'; readonly epoch: number };

/**
 * What was said, in the one order in which all members hear it; or that work has another member now. `resumed`: it was found open
 * in the log, with no member that had it. `taken`: all that was of `gone` is of `fence`, which then owns what that one had left: it may
 * have been left for want of a tool.
 */
export type Happening = { readonly seq: number; readonly fence: number } & (
  | { readonly is: 'begun' | 'grown' | 'given'; readonly epoch: number; readonly claims: string }
  | { readonly is: 'left'; readonly epoch: number; readonly claims?: string }
  | { readonly is: 'own' | 'ended' | 'resumed'; readonly epoch: number }
  | { readonly is: 'taken'; readonly gone: number }
);
