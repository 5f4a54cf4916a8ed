import { once } from 'node:events';
import type { DatabaseSync } from 'node:sqlite';
import { Worker } from 'node:worker_threads';
import { connectionTask } from '../connection/reconnect.ts';
import { sqliteError } from '../errors.ts';

/** What the thread answers each time; it begins with a copy. */
export type Copied = { readonly isCopied: true } | { readonly errcode: number; readonly message: string };

/**
 * Copies the WAL into the file in a thread of its own, by a connection of its own (`wal_checkpoint(PASSIVE)`): what is written meanwhile
 * goes on, and waits for nothing but the disk. What comes into the WAL while it copies is for the next time, and so the last few pages are for
 * whoever writes: only between two of its groups all of it is copied, so that the next one begins the WAL anew.
 *
 * The thread is begun with the first copy, and keeps no process alive, but where somebody waits for what it copies.
 */
export class WalCopier {
  readonly #db: DatabaseSync;
  readonly #path: string;
  #worker: Worker | undefined;
  /** It has no thread, or has none any more. */
  #isOver = false;
  /** Somebody waits for what is copied. */
  #isHeld = false;

  constructor(db: DatabaseSync, path: string) {
    this.#db = db;
    this.#path = path;
  }

  /**
   * When what the WAL has by now is in the file, as far as nobody reads what was there before. False where there is no thread for it, and
   * there will be none.
   * @throws SQLite's error: what is in the file then is known when it is opened again
   */
  async copy(): Promise<boolean> {
    const worker = this.#asked();
    const copied = worker && (await this.#answerOf(worker));
    if (copied === undefined) {
      this.#isOver = true;
      return false;
    }
    if ('errcode' in copied) throw sqliteError(copied.errcode, copied.message);
    return true;
  }

  /** The thread, which has been asked for a copy; undefined where there is none. */
  #asked(): Worker | undefined {
    if (this.#isOver) return undefined;
    if (this.#worker !== undefined) {
      this.#worker.postMessage('copy');
      return this.#worker;
    }
    try {
      this.#worker = this.#begin();
    } catch {
      // None can be begun now: who writes copies, as it would without one.
      return undefined;
    }
    return this.#worker;
  }

  #begin(): Worker {
    const task = connectionTask(this.#db, this.#path);
    const worker = new Worker(workerFile(), { workerData: task, execArgv: [] });
    worker.unref();
    // Who waits for an answer hears of it; and without anybody it is seen with the next copy.
    worker.on('error', () => (this.#isOver = true));
    worker.on('exit', () => (this.#isOver = true));
    return worker;
  }

  /** From now on a copy that is being made keeps the process alive, or none does. */
  hold(isHeld: boolean): void {
    this.#isHeld = isHeld;
    if (this.#worker !== undefined && !this.#isOver) this.#refer(this.#worker);
  }

  /** Ends the thread; its connection is closed when this settles. */
  async end(): Promise<void> {
    const worker = this.#worker;
    if (worker === undefined || this.#isOver) return;
    // Who would ask for more now is not to let go of the thread that is waited for here.
    this.#isOver = true;
    const ended = once(worker, 'exit').catch(() => undefined);
    worker.ref();
    worker.postMessage('end');
    await ended;
  }

  /** Undefined where the thread ends without one. */
  #answerOf(worker: Worker): Promise<Copied | undefined> {
    return new Promise((resolve) => {
      const answered = (copied: Copied): void => over(copied);
      const ended = (): void => over(undefined);
      const over = (copied: Copied | undefined): void => {
        worker.off('message', answered).off('error', ended).off('exit', ended);
        resolve(copied);
      };
      worker.on('message', answered).on('error', ended).on('exit', ended);
      // A listener for messages refs the port again.
      this.#refer(worker);
    });
  }

  #refer(worker: Worker): void {
    if (this.#isHeld) worker.ref();
    else worker.unref();
  }
}

/** The worker beside this file: a source in the repository, JavaScript in the package. */
function workerFile(): URL {
  return new URL(`./checkpointer-worker${import.meta.url.slice(import.meta.url.lastIndexOf('.'))}`, import.meta.url);
}
