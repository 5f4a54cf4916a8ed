import type { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Lease } from '#ledger';
import { openDatabase } from '../connection/database.ts';
import { fileUrl } from '../connection/file.ts';
import { isBusy } from '../errors.ts';

/** The pause between two attempts to lock the file. */
const PAUSE_MS = 10;

type GrantedLease = Pick<Lease, 'fence' | 'lastEpoch'>;

/**
 * Exclusive leases on the effect log of a store.
 *
 * The holder locks an empty file next to the store, `-effects`, with SQLite's lock. The system
 * releases the lock when the process ends. The file always stays empty. Each lease raises the fence
 * in the store. A holder that lost the lock, because the file was deleted, is therefore fenced.
 */
export class Leases {
  readonly #path: string;
  /** Ends each wait with the reason. */
  readonly #closing = new AbortController();
  readonly #held = new Set<DatabaseSync>();

  /** `path` is the path of the store. */
  constructor(path: string) {
    this.#path = `${path}-effects`;
  }

  /**
   * `raise` raises the fence. @throws the reason of the signal or of `refuse`, or the error of
   * `raise`
   */
  async acquire(raise: () => Promise<GrantedLease>, signal?: AbortSignal): Promise<Lease> {
    const waiting = AbortSignal.any([this.#closing.signal, ...(signal === undefined ? [] : [signal])]);
    waiting.throwIfAborted();
    // One connection per waiter: waiters of one process exclude each other like those of other
    // processes.
    const lock = openDatabase(fileUrl(this.#path, { mode: 'rwc' }), { timeout: 0 });
    this.#held.add(lock);
    try {
      while (!tryLock(lock)) {
        await sleep(PAUSE_MS, undefined, { signal: waiting }).catch(() => waiting.throwIfAborted());
      }
      const given = await raise();
      waiting.throwIfAborted();
      return { ...given, release: async () => this.#free(lock) };
    } catch (error) {
      this.#free(lock);
      throw error;
    }
  }

  /** Ends every wait with the reason. No lease is given from now on. */
  refuse(reason: Error): void {
    this.#closing.abort(reason);
  }

  /** Ends the current lease. */
  end(): void {
    for (const lock of this.#held) this.#free(lock);
  }

  // Closing the connection rolls back, which releases the lock.
  #free(lock: DatabaseSync): void {
    if (this.#held.delete(lock)) lock.close();
  }
}

function tryLock(lock: DatabaseSync): boolean {
  try {
    lock.exec('BEGIN IMMEDIATE');
    return true;
  } catch (error) {
    if (isBusy(error)) return false;
    throw error;
  }
}
