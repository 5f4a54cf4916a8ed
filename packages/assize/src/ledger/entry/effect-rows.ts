import type { Hash } from './hash.ts';

/** A tool transaction, from its first record on (docs/decisions/015-effect-order.md). */
export interface EffectTransactionRow {
  /** Unique over all trajectories of a store, from 1. Transactions may begin in another order. */
  readonly epoch: number;
  readonly trajectory_id: string;
  /** Canonical text of the transaction's description and scopes; see `effects/log.ts`. */
  readonly body: string;
}

/** One record of a transaction's log. */
export interface EffectRecordRow {
  readonly epoch: number;
  /** The record's index in the log of its transaction, from 0, without gaps. */
  readonly place: number;
  /** The record as canonical text. */
  readonly record: string;
}

/** An effect's idempotency key. The key names one effect permanently and is never released. */
export interface EffectKeyRow {
  readonly key: Hash;
  readonly epoch: number;
  /** The effect's index among the calls of its transaction. */
  readonly n: number;
}

/**
 * A write to the effect log in one store transaction, alone or with a batch of entries. The store
 * applies all of the write or nothing, in the order of the fields. Rows that already exist with
 * identical text stay unchanged, so a write may be repeated.
 *
 * Records and keys belong to an open transaction, started earlier or in this write. Other input is
 * misuse and fails with `store_invalid_input`: an epoch of another transaction, or one never
 * started; an index that leaves a gap or has another text; new rows for an ended transaction.
 */
export interface EffectWrite {
  /**
   * The fence of the lease or membership under which the write is made, from 1. The store refuses
   * the write after a newer lease was granted or the membership ended.
   */
  readonly fence: number;
  readonly begun?: readonly EffectTransactionRow[];
  readonly records?: readonly EffectRecordRow[];
  readonly keys?: readonly EffectKeyRow[];
  /** Epochs of transactions that have ended. */
  readonly ended?: readonly number[];
}

/**
 * The reason of a refused write. `fenced`: a newer lease was granted, or the membership ended.
 * `taken`: the key already names another effect, in the store or earlier in the write. The store
 * wrote nothing in either case.
 *
 * If several reasons apply, including a `conflict` of the batch, the store chooses which one to
 * return. A fenced writer never receives a misuse error.
 */
export type EffectRefusal =
  | { readonly status: 'fenced' }
  | { readonly status: 'taken'; readonly key: Hash; readonly epoch: number; readonly n: number };

/** A transaction as the effect log stores it. */
export interface LoggedTransaction extends EffectTransactionRow {
  /** The records, in log order. */
  readonly records: readonly string[];
}

/** Selects the transactions to list. */
export interface EffectPage {
  /** Only transactions with a lower epoch. Default: all. */
  readonly before?: number;
  /** Maximum number of transactions, from 1. */
  readonly limit: number;
  /** Only transactions of this trajectory. Default: all trajectories. */
  readonly trajectoryId?: string;
}

/** Selects open transactions. An absent field restricts nothing. */
export interface OpenEffectPage {
  /** Only transactions with a higher epoch. */
  readonly after?: number;
  /** Maximum number of transactions, from 1. */
  readonly limit?: number;
  readonly trajectoryId?: string;
}

/** An event that a group member publishes about its transactions to all members of the store. */
export type MembershipEvent =
  /** The transaction gets the next epoch and is registered with that epoch in the same step. */
  | { readonly is: 'begun'; readonly claims: string }
  /** The transaction registers more claims, or releases claims. */
  | { readonly is: 'grown' | 'given'; readonly epoch: number; readonly claims: string }
  /** The transaction needs a human decision and keeps these claims. Default: all its claims. */
  | { readonly is: 'left'; readonly epoch: number; readonly claims?: string }
  /**
   * `own`: this member resumes an unresolved transaction. `ended`: the transaction needs no further
   * work.
   */
  | { readonly is: 'own' | 'ended'; readonly epoch: number };

/**
 * A published event, in the one order in which all members receive events, or a change of
 * ownership. `resumed`: the transaction was open in the log and had no owner. `taken`: every
 * transaction of the member `gone` now belongs to the member `fence`. The new owner also owns the
 * unresolved ones: they may only have lacked a tool.
 */
export type OrderedEvent = { readonly seq: number; readonly fence: number } & (
  | { readonly is: 'begun' | 'grown' | 'given'; readonly epoch: number; readonly claims: string }
  | { readonly is: 'left'; readonly epoch: number; readonly claims?: string }
  | { readonly is: 'own' | 'ended' | 'resumed'; readonly epoch: number }
  | { readonly is: 'taken'; readonly gone: number }
);
