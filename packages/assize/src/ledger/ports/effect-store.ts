import type { BlobRow } from '../entry/blob-row.ts';
import type {
  EffectKeyRow,
  EffectPage,
  EffectRefusal,
  EffectWrite,
  LoggedTransaction,
  MembershipEvent,
  OpenEffectPage,
  OrderedEvent,
} from '../entry/effect-rows.ts';
import type { Hash } from '../entry/hash.ts';

/** An exclusive lease on the effects of a store. The lease ends with the process. */
export interface Lease {
  /** Grows with every lease, from 1. */
  readonly fence: number;
  /** The highest epoch in the store. */
  readonly lastEpoch: number;
  /**
   * Optional: whether another caller waits for the lease, in any process. An idle holder then
   * releases the lease.
   */
  isWanted?(): boolean;
  /**
   * Releases the lease to the next holder. Safe to call twice; does nothing after the lease has
   * ended.
   */
  release(): Promise<void>;
}

/**
 * The effect log: the calls of tools and their outcomes outside the ledger, and the open
 * transactions. The log is append-only, as a ledger is. Open transactions and used keys are indexes
 * of the log.
 */
export interface EffectStore {
  /**
   * Waits until no other holder works on effects of this store, including holders of this handle.
   * Then grants exclusive access until `release`, `close`, or the end of the process. A lease can
   * be lost earlier, with a connection or a file. The holder then receives `fenced` after another
   * lease was granted.
   *
   * @throws the signal's reason; `store_closed` if the store is closed in the meantime
   */
  leaseEffects(signal?: AbortSignal): Promise<Lease>;
  /**
   * The write is durable when the promise resolves. Blobs are stored once, in the same transaction.
   * The write joins the waiting batches.
   *
   * After an error other than misuse, the write may or may not have happened. Repeating it is safe.
   */
  logEffects(
    write: EffectWrite,
    blobs?: readonly BlobRow[],
  ): Promise<{ readonly status: 'written' } | EffectRefusal>;
  /** Open transactions, by epoch. */
  openEffects(page?: OpenEffectPage): Promise<LoggedTransaction[]>;
  /** Open and ended transactions, the highest epoch first. */
  listEffects(page: EffectPage): Promise<LoggedTransaction[]>;
  /** The transaction of that epoch, open or ended. */
  effectsOf(epoch: number): Promise<LoggedTransaction | undefined>;
  /** The effect that uses a key. */
  effectKey(key: Hash): Promise<EffectKeyRow | undefined>;
  /**
   * Optional: whether the store ever granted a lease or membership, so that it has its own effect
   * log, even an empty one. `verify` uses the answer to tell an imported ledger from a log with
   * lost rows. Default: true if the store has a transaction.
   */
  hasEffectLog?(): Promise<boolean>;
  /**
   * Optional: whether the store calls the tools of the imported trajectory with this first entry. A
   * store without the method calls no tools of imported trajectories.
   */
  adopted?(root: Hash): Promise<boolean>;
}

/** Whether a store has an effect log, as the stores of this package do. */
export function isEffectStore<Store extends object>(store: Store): store is Store & EffectStore {
  return typeof (store as Partial<EffectStore>).listEffects === 'function';
}

/**
 * The right to work on the effects of a store in shared mode. The membership ends with the process,
 * with its connection, and when a lease passes without renewal
 * (docs/decisions/015-effect-order.md). Another member then adopts its transactions, and later
 * writes of the old member are fenced.
 */
export interface Membership {
  /** Grows with every membership or lease, from 1. */
  readonly fence: number;
  /**
   * Publishes events, renews the lease, and returns all events after `heard`, in order. The events
   * published by this call come last. Returns undefined if the membership has ended; nothing was
   * published then. `look`: also adopts the transactions of ended members.
   *
   * @throws StoreError if the store is unavailable; treat the membership as ended
   */
  exchange(
    heard: number,
    said: readonly MembershipEvent[],
    look: boolean,
  ): Promise<readonly OrderedEvent[] | undefined>;
  /**
   * Calls the listener when other members may have published events, and when the membership is
   * lost.
   */
  onEvents(listener: () => void): void;
  /**
   * The reason why the membership ended, if this side knows it: a lost connection, or a closed
   * store.
   */
  whyEnded?(): unknown;
  /**
   * Ends the membership. Its open transactions pass to another member immediately, or to the next
   * member that joins. Safe to call twice.
   */
  release(): Promise<void>;
}

/** An effect log that several engines share, in one process or in many. */
export interface SharedEffectStore extends EffectStore {
  /**
   * Joins the group. Waits for the holder of an exclusive lease; `leaseEffects` in turn waits for
   * all members. Open transactions without an owner belong to the new member from the start.
   *
   * @throws the signal's reason; `store_closed` if the store is closed in the meantime
   */
  joinEffects(options: {
    readonly leaseMs: number;
    readonly signal?: AbortSignal;
  }): Promise<Membership>;
}
