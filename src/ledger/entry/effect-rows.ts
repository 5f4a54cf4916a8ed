import type { BlobRow } from '../ports/ledger-store.ts';
import type { Hash } from './entry.ts';

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

/** The right to work on the effects of a store, which one has at a time. It ends with the process. */
export interface Tenure {
  /** Greater with every tenure, from 1. */
  readonly fence: number;
  /** No transaction in the store has a greater epoch. */
  readonly lastEpoch: number;
  /** Lets the next one have it; safe to call twice. Does nothing once it has ended otherwise. */
  release(): Promise<void>;
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
  openEffects(page?: OpenEffectPage): Promise<LoggedTransaction[]>;
  /** Transactions, also those that have ended, the youngest first. */
  listEffects(page: EffectPage): Promise<LoggedTransaction[]>;
  /** The transaction of that epoch, also when it has ended. */
  effectsOf(epoch: number): Promise<LoggedTransaction | undefined>;
  /** Where a key was used. */
  effectKey(key: Hash): Promise<EffectKeyRow | undefined>;
  /**
   * Optional: whether anybody has ever had a tenure or a membership here, so that the store has an effect log of its own, also an empty one.
   * By that `verify` tells a ledger that was imported from one whose log has lost its rows. By default it has one when a transaction is there.
   */
  wereEffectsHeld?(): Promise<boolean>;
}

/** Whether a store keeps an effect log, as those of this package do. */
export function isEffectStore<Store extends object>(store: Store): store is Store & EffectStore {
  return typeof (store as Partial<EffectStore>).listEffects === 'function';
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

/**
 * The right to work on the effects of a store beside others. It ends with the process, with its connection, and when nothing was
 * heard of it for a lease (decisions §5.6): then another member takes its work over, and what it still writes is fenced.
 */
export interface Membership {
  /** Greater with every membership or tenure, from 1. */
  readonly fence: number;
  /**
   * Says something, renews the lease, and hears all that happened after `heard`, in order; what was said here comes last. Undefined
   * when the membership has ended: nothing was said then. `look`: also takes over what is of members that have ended.
   *
   * @throws what the store throws when it can't be reached; the membership is then as good as ended
   */
  exchange(heard: number, said: readonly Said[], look: boolean): Promise<readonly Happening[] | undefined>;
  /** Called when others may have said something, and when the membership is lost. */
  onNews(listener: () => void): void;
  /** Why it has ended, where this side knows: its connection was lost, or the store was closed. */
  whyEnded?(): unknown;
  /** What is still of it is another member's at once, where there is one, and else of who joins next; safe to call twice. */
  release(): Promise<void>;
}

/** An effect log on which several work at a time, in one process or in many. */
export interface SharedEffectStore extends EffectStore {
  /**
   * Waits for whoever has a tenure (`holdEffects`, which waits for all members). What is open in the log and of no member is its
   * own from the beginning on.
   *
   * @throws the signal's reason; `store_closed` when the store is closed meanwhile
   */
  shareEffects(options: { readonly leaseMs: number; readonly signal?: AbortSignal }): Promise<Membership>;
}
