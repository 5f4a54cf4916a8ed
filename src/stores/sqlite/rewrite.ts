import type { DatabaseSync } from 'node:sqlite';
import { Worker } from 'node:worker_threads';
import { sqliteError } from './errors.ts';

/** What the thread is given. */
export interface RewriteTask {
  readonly path: string;
  /** What the connection has to have set, as the one has that the file was opened with. */
  readonly pragmas: readonly (readonly [name: string, value: number])[];
}

export type RewriteOutcome =
  | { readonly done: true }
  | { readonly done: false; readonly errcode: number; readonly message: string };

/**
 * Bytes from which on a file is written anew in another thread. A lesser one takes no longer than to start one, and this thread waits
 * for it.
 */
export const ASIDE_BYTES: number = 8 * 2 ** 20;

const PRAGMAS = [
  'synchronous',
  'fullfsync',
  'checkpoint_fullfsync',
  'secure_delete',
  'trusted_schema',
  'wal_autocheckpoint',
];

/**
 * Writes the file anew where that is due (`Scrubber`), and cuts the WAL if nobody reads in it, in another thread and by a connection of its
 * own: reading goes on here meanwhile. Writing does not, by whichever connection. False where no thread could be had, and nothing is
 * known to be done.
 *
 * @throws SQLite's error: busy where another connection writes
 */
export async function rewriteAside(db: DatabaseSync, path: string): Promise<boolean> {
  const outcome = await outcomeOf({ path, pragmas: pragmasOf(db) });
  if (outcome === undefined) return false;
  if (!outcome.done) throw sqliteError(outcome.errcode, outcome.message);
  return true;
}

/** What another connection to the file has to have set, as this one has. */
export function pragmasOf(db: DatabaseSync): RewriteTask['pragmas'] {
  return PRAGMAS.map((name) => [name, Number(Object.values(db.prepare(`PRAGMA ${name}`).get() ?? {})[0])] as const);
}

/** Undefined where it ends without one. */
function outcomeOf(workerData: RewriteTask): Promise<RewriteOutcome | undefined> {
  return new Promise((resolve) => {
    const worker = new Worker(workerFile(), { workerData, execArgv: [] });
    let outcome: RewriteOutcome | undefined;
    worker.once('message', (given: RewriteOutcome) => {
      outcome = given;
    });
    worker.once('error', () => resolve(undefined));
    // Only then its connection is closed.
    worker.once('exit', () => resolve(outcome));
  });
}

/** The worker beside this file: a source in the repository, JavaScript in the package. */
function workerFile(): URL {
  return new URL(`./rewrite-worker${import.meta.url.slice(import.meta.url.lastIndexOf('.'))}`, import.meta.url);
}
