import type { DatabaseSync } from 'node:sqlite';
import { Worker } from 'node:worker_threads';
import { type ConnectionTask, connectionTask } from '../connection/reconnect.ts';
import { sqliteError } from '../errors.ts';

export type RewriteOutcome =
  | { readonly done: true }
  | { readonly done: false; readonly errcode: number; readonly message: string };

/**
 * The file size in bytes from which a worker thread rewrites the file. A smaller file takes no
 * longer than the start of a thread, so this thread rewrites it.
 */
export const THREAD_BYTES_MIN: number = 8 * 2 ** 20;

/**
 * Rewrites the file if that is due (`Scrubber`), and truncates the WAL if no reader uses it. A
 * worker thread with its own connection does so.
 *
 * Reads of this process continue in the meantime, but writes of every connection wait. Returns
 * false if no thread was available. The work is then not known to be done.
 *
 * @throws SQLite's error: busy if another connection writes
 */
export async function rewriteInThread(db: DatabaseSync, path: string): Promise<boolean> {
  const outcome = await outcomeOf(connectionTask(db, path));
  if (outcome === undefined) return false;
  if (!outcome.done) throw sqliteError(outcome.errcode, outcome.message);
  return true;
}

/** Undefined if the worker ends without an outcome. */
function outcomeOf(workerData: ConnectionTask): Promise<RewriteOutcome | undefined> {
  return new Promise((resolve) => {
    const worker = started(workerData);
    if (worker === undefined) return resolve(undefined);
    let outcome: RewriteOutcome | undefined;
    worker.once('message', (given: RewriteOutcome) => {
      outcome = given;
    });
    worker.once('error', () => resolve(undefined));
    // The worker's connection is closed only after the exit.
    worker.once('exit', () => resolve(outcome));
  });
}

/**
 * Undefined if the system provides no thread, for which Node throws immediately. The build names
 * the worker's JavaScript. In a bundle that leaves the worker out, the thread ends without an
 * outcome.
 */
function started(workerData: ConnectionTask): Worker | undefined {
  try {
    return new Worker(new URL('./rewrite-worker.ts', import.meta.url), {
      workerData,
      execArgv: [],
    });
  } catch {
    return undefined;
  }
}
