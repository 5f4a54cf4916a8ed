import type { BlobRow } from '../entry/blob-row.ts';
import type {
  EffectKeyRow,
  EffectPage,
  EffectRefusal,
  EffectWrite,
  Happening,
  LoggedTransaction,
  OpenEffectPage,
  Said,
} from '../entry/effect-rows.ts';
import type { Hash } from '../entry/hash.ts';

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
