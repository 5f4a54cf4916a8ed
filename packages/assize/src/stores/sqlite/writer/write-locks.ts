import type { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { WRITE_LOCK_WAIT_MS } from '../../options.ts';
import { openLockFile } from '../connection/database.ts';
import { isBusy } from '../errors.ts';

/**
 * The pause between two attempts to lock the file, and the time for which a past holder lets other
 * processes try first.
 */
const PAUSE_MS = 1;
const ROOM_MS = 4;

/**
 * The write lock of a file. One lock covers all trajectories, because only one process at a time
 * can write to the file.
 *
 * The holder locks an empty file next to the store, `-turn`, with SQLite's lock. The system
 * releases the lock when the process ends. The file always stays empty, and can be deleted while no
 * process has the store open.
 */
export class WriteLocks {
  readonly #store: URL;
  #db: DatabaseSync | undefined;
  /** Resolves when the previous request has ended. */
  #before: Promise<void> = Promise.resolve();
  #endedAt = 0;
  #end: () => void = () => undefined;
  #isClosed = false;

  /** `store` is the file of the store. */
  constructor(store: URL) {
    this.#store = store;
  }

  /**
   * Resolves to the function that releases the lock, or to undefined if the lock was not acquired.
   * Never rejects.
   */
  acquire(): Promise<(() => void) | undefined> {
    return new Promise((resolve) => {
      this.#before = this.#before.then(async () => {
        const has = await this.#lock().catch(() => false);
        if (!has) return resolve(undefined);
        await new Promise<void>((end) => {
          this.#end = end;
          resolve(end);
        });
        this.#unlock();
      });
    });
  }

  /** Releases the current lock. Waiting requests are no longer granted. */
  async end(): Promise<void> {
    this.#isClosed = true;
    this.#end();
    await this.#before;
    if (this.#db?.isOpen) this.#db.close();
  }

  async #lock(): Promise<boolean> {
    this.#db ??= openLockFile(this.#store, '-turn');
    const begin = performance.now();
    // Otherwise this process would reacquire the lock before any other process can try.
    if (begin - this.#endedAt < ROOM_MS) await sleep(ROOM_MS);
    while (!this.#isClosed) {
      try {
        this.#db.exec('BEGIN IMMEDIATE');
        return true;
      } catch (error) {
        if (!isBusy(error) || performance.now() - begin > WRITE_LOCK_WAIT_MS) return false;
      }
      await sleep(PAUSE_MS);
    }
    return false;
  }

  #unlock(): void {
    this.#db!.exec('ROLLBACK');
    this.#endedAt = performance.now();
  }
}
