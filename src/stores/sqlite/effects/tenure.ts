import type { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Tenure } from '#ledger';
import { openDatabase } from '../connection/database.ts';
import { fileUrl } from '../connection/file.ts';
import { isBusy } from '../errors.ts';

/** Between two looks at whether the file is free. */
const PAUSE_MS = 10;

type Given = Pick<Tenure, 'fence' | 'lastEpoch'>;

/**
 * Tenures of the effects of a store. Who has it holds SQLite's lock on an empty file beside the store, `-effects`, which the
 * system frees when the process ends. Nothing is ever written there. Whoever lost the lock all the same, because the file was
 * deleted, is fenced: with each tenure the fence in the store is raised.
 */
export class Tenures {
  readonly #path: string;
  /** Ends each wait, with why. */
  readonly #closing = new AbortController();
  readonly #held = new Set<DatabaseSync>();

  /** `path`: of the store. */
  constructor(path: string) {
    this.#path = `${path}-effects`;
  }

  /** `raise` raises the fence. @throws the reason of the signal or of `refuse`, or what `raise` throws */
  async hold(raise: () => Promise<Given>, signal?: AbortSignal): Promise<Tenure> {
    const waiting = AbortSignal.any([this.#closing.signal, ...(signal === undefined ? [] : [signal])]);
    waiting.throwIfAborted();
    // One for each who waits: they are in each other's way like those of other processes.
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

  /** Ends every wait with that reason; no tenure is given from now on. */
  refuse(reason: Error): void {
    this.#closing.abort(reason);
  }

  /** Ends the tenure that is had. */
  end(): void {
    for (const lock of this.#held) this.#free(lock);
  }

  // Closing rolls back, which frees the lock.
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
