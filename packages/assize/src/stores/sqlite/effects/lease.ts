import type { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Lease } from '#ledger';
import { openLockFile } from '../connection/database.ts';
import { isBusy } from '../errors.ts';

/** The pause between two attempts to lock the file. */
const PAUSE_MS = 10;

/** The connections of a holder or a waiter. */
interface Place {
  readonly lock: DatabaseSync;
  readonly queue: DatabaseSync;
}

type GrantedLease = Pick<Lease, 'fence' | 'lastEpoch'>;

/**
 * Exclusive leases on the effect log of a store.
 *
 * The holder locks an empty file next to the store, `-effects`, with SQLite's lock. The system
 * releases the lock when the process ends. The file always stays empty. Each lease raises the fence
 * in the store. A holder that lost the lock, because the file was deleted, is therefore fenced.
 *
 * Each waiter has a shared lock of a second empty file, `-effects-queue`, so a holder sees whether
 * any process waits.
 */
export class Leases {
  readonly #store: () => URL;
  /** Ends each wait with the reason. */
  readonly #closing = new AbortController();
  readonly #held = new Set<Place>();

  /** `store`: the file of the store, asked at each request. */
  constructor(store: () => URL) {
    this.#store = store;
  }

  /**
   * `raise` raises the fence. @throws the reason of the signal or of `refuse`, or the error of
   * `raise`
   */
  async acquire(raise: () => Promise<GrantedLease>, signal?: AbortSignal): Promise<Lease> {
    const waiting = AbortSignal.any([
      this.#closing.signal,
      ...(signal === undefined ? [] : [signal]),
    ]);
    waiting.throwIfAborted();
    // One connection per waiter: waiters of one process exclude each other like those of other
    // processes.
    const place = this.#open();
    const { lock, queue } = place;
    try {
      // Earlier waiters come first.
      if (isWanted(queue) || !tryLock(lock)) await this.#turn(place, waiting);
      const given = await raise();
      waiting.throwIfAborted();
      return {
        ...given,
        isWanted: () => this.#held.has(place) && isWanted(queue),
        release: async () => this.#free(place),
      };
    } catch (error) {
      this.#free(place);
      throw error;
    }
  }

  /** Ends every wait with the reason. No lease is given from now on. */
  refuse(reason: Error): void {
    this.#closing.abort(reason);
  }

  /** Ends the current lease. */
  end(): void {
    for (const place of this.#held) this.#free(place);
  }

  #open(): Place {
    const store = this.#store();
    const lock = openLockFile(store, '-effects');
    try {
      const place = { lock, queue: openLockFile(store, '-effects-queue') };
      this.#held.add(place);
      return place;
    } catch (error) {
      lock.close();
      throw error;
    }
  }

  async #turn({ lock, queue }: Place, waiting: AbortSignal): Promise<void> {
    let isQueued = false;
    do {
      isQueued ||= tryQueue(queue);
      await sleep(PAUSE_MS, undefined, { signal: waiting }).catch(() => waiting.throwIfAborted());
    } while (!tryLock(lock));
    if (isQueued) queue.exec('ROLLBACK');
  }

  // Closing the connections rolls back and so releases the locks.
  #free(place: Place): void {
    if (!this.#held.delete(place)) return;
    place.lock.close();
    place.queue.close();
  }
}

function tryLock(lock: DatabaseSync): boolean {
  return unlessBusy(() => lock.exec('BEGIN IMMEDIATE'));
}

/** Takes the shared lock of a waiter. Fails while another process looks whether any waits. */
function tryQueue(queue: DatabaseSync): boolean {
  if (!queue.isTransaction) queue.exec('BEGIN');
  return unlessBusy(() => queue.exec('SELECT name FROM sqlite_master'));
}

/** Whether another connection has the shared lock of a waiter. */
function isWanted(queue: DatabaseSync): boolean {
  return !unlessBusy(() => queue.exec('BEGIN EXCLUSIVE; ROLLBACK'));
}

/** Returns false if another connection has the lock. */
function unlessBusy(step: () => void): boolean {
  try {
    step();
    return true;
  } catch (error) {
    if (isBusy(error)) return false;
    throw error;
  }
}
