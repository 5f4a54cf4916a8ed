import type { DatabaseSync } from 'node:sqlite';
import { Worker } from 'node:worker_threads';
import { type ConnectionTask, connectionTask } from '../connection/reconnect.ts';
import { sqliteError } from '../errors.ts';

export type RewriteOutcome =
  | { readonly done: true }
  | { readonly done: false; readonly errcode: number; readonly message: string };

/**
 * Bytes from which on a file is written anew in another thread. A lesser one takes no longer than to start one, and this thread waits
 * for it.
 */
export const ASIDE_BYTES: number = 8 * 2 ** 20;

/**
 * Writes the file anew where that is due (`Scrubber`), and cuts the WAL if nobody reads in it, in another thread and by a connection of its
 * own: reading goes on here meanwhile. Writing does not, by whichever connection. False where no thread could be had, and nothing is
 * known to be done.
 *
 * @throws SQLite's error: busy where another connection writes
 */
export async function rewriteAside(db: DatabaseSync, path: string): Promise<boolean> {
  const outcome = await outcomeOf(connectionTask(db, path));
  if (outcome === undefined) return false;
  if (!outcome.done) throw sqliteError(outcome.errcode, outcome.message);
  return true;
}

/** Undefined where it ends without one. */
function outcomeOf(workerData: ConnectionTask): Promise<RewriteOutcome | undefined> {
  return new Promise((resolve) => {
    const worker = started(workerData);
    if (worker === undefined) return resolve(undefined);
    let outcome: RewriteOutcome | undefined;
    worker.once('message', (given: RewriteOutcome) => {
      outcome = given;
    });
    worker.once('error', () => resolve(undefined));
    // Only then its connection is closed.
    worker.once('exit', () => resolve(outcome));
  });
}

/** Undefined where the system gives no thread, which Node throws at once. */
function started(workerData: ConnectionTask): Worker | undefined {
  try {
    return new Worker(workerFile(), { workerData, execArgv: [] });
  } catch {
    return undefined;
  }
}

/** The worker beside this file: a source in the repository, JavaScript in the package. */
function workerFile(): URL {
  return new URL(`./rewrite-worker${import.meta.url.slice(import.meta.url.lastIndexOf('.'))}`, import.meta.url);
}
