import type { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { TURN_WAIT_MS } from '../../options.ts';
import { openDatabase } from '../connection/database.ts';
import { fileUrl } from '../connection/file.ts';
import { isBusy } from '../errors.ts';

/** Between two looks at whether the file is free; and so long somebody who had it lets others look first. */
const PAUSE_MS = 1;
const ROOM_MS = 4;

/**
 * Turns at writing to a file, whichever trajectory it is, because one process at a time writes to it anyway. Who has the turn
 * holds SQLite's lock on an empty file beside it, `-turn`, which the system frees when the process ends. Nothing is ever
 * written there, and it may be deleted where no process has the store open.
 */
export class Turns {
  readonly #path: string;
  #db: DatabaseSync | undefined;
  /** When what was asked for before has ended. */
  #before: Promise<void> = Promise.resolve();
  #endedAt = 0;
  #end: () => void = () => undefined;
  #isClosed = false;

  /** `path`: of the store. */
  constructor(path: string) {
    this.#path = `${path}-turn`;
  }

  /** What ends the turn; nothing where it could not be had. Never rejects. */
  take(): Promise<(() => void) | undefined> {
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

  /** Ends the turn that is had; those that were asked for are not given any more. */
  async end(): Promise<void> {
    this.#isClosed = true;
    this.#end();
    await this.#before;
    if (this.#db?.isOpen) this.#db.close();
  }

  async #lock(): Promise<boolean> {
    this.#db ??= openDatabase(fileUrl(this.#path, { mode: 'rwc' }), { timeout: 0 });
    const begin = performance.now();
    // Otherwise it would have it again before anybody else has looked.
    if (begin - this.#endedAt < ROOM_MS) await sleep(ROOM_MS);
    while (!this.#isClosed) {
      try {
        this.#db.exec('BEGIN IMMEDIATE');
        return true;
      } catch (error) {
        if (!isBusy(error) || performance.now() - begin > TURN_WAIT_MS) return false;
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
