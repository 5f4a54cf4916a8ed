import { once } from 'node:events';
import type { DatabaseSync } from 'node:sqlite';
import { Worker } from 'node:worker_threads';
import { connectionTask } from '../connection/reconnect.ts';
import { sqliteError } from '../errors.ts';

/** The worker's answer to each request. The worker starts with a copy. */
export type CheckpointResult =
  | { readonly isCopied: true }
  | { readonly errcode: number; readonly message: string };

/**
 * Copies the WAL into the file in a worker thread with its own connection
 * (`wal_checkpoint(PASSIVE)`).
 *
 * Writes continue in the meantime, and wait only for the disk. Pages that reach the WAL during a
 * copy belong to the next copy. The writer therefore copies the last few pages itself, between two
 * of its groups. Only then the whole WAL is copied, and the next group can restart it.
 *
 * The first copy starts the thread. The thread keeps the process alive only while a caller waits
 * for a copy.
 */
export class Checkpointer {
  readonly #db: DatabaseSync;
  readonly #path: string;
  #worker: Worker | undefined;
  /** Whether the worker does not exist, or has ended. */
  #isOver = false;
  /** Whether a caller waits for the copy. */
  #isHeld = false;

  constructor(db: DatabaseSync, path: string) {
    this.#db = db;
    this.#path = path;
  }

  /**
   * Resolves when the current contents of the WAL are in the file, except where a reader needs the
   * old pages. Resolves to false if no thread is available, now and later.
   *
   * @throws SQLite's error: the contents of the file are known when it is opened again
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

  /** The worker, after a request for a copy. Undefined if no worker is available. */
  #asked(): Worker | undefined {
    if (this.#isOver) return undefined;
    if (this.#worker !== undefined) {
      this.#worker.postMessage('copy');
      return this.#worker;
    }
    try {
      this.#worker = this.#begin();
    } catch {
      // The system cannot start a thread, or a bundle has no file for it. The writer then copies
      // the WAL itself.
      return undefined;
    }
    return this.#worker;
  }

  #begin(): Worker {
    const task = connectionTask(this.#db, this.#path);
    const worker = new Worker(new URL('./checkpointer-worker.ts', import.meta.url), {
      workerData: task,
      execArgv: [],
    });
    worker.unref();
    // A waiting caller receives the error. Otherwise the next copy notices the end of the worker.
    worker.on('error', () => (this.#isOver = true));
    worker.on('exit', () => (this.#isOver = true));
    return worker;
  }

  /** Sets whether a running copy keeps the process alive. */
  hold(isHeld: boolean): void {
    this.#isHeld = isHeld;
    if (this.#worker !== undefined && !this.#isOver) this.#refer(this.#worker);
  }

  /** Ends the thread. Its connection is closed when the promise resolves. */
  async end(): Promise<void> {
    const worker = this.#worker;
    if (worker === undefined || this.#isOver) return;
    // Prevents a new request: it would release the worker that this call waits for.
    this.#isOver = true;
    const ended = once(worker, 'exit').catch(() => undefined);
    worker.ref();
    worker.postMessage('end');
    await ended;
  }

  /** Undefined if the thread ends without an answer. */
  #answerOf(worker: Worker): Promise<CheckpointResult | undefined> {
    return new Promise((resolve) => {
      const answered = (copied: CheckpointResult): void => over(copied);
      const ended = (): void => over(undefined);
      const over = (copied: CheckpointResult | undefined): void => {
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
