import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Fault, RowRange } from '#ledger';

/** What the worker is given. */
export interface CheckAheadTask {
  readonly path: string;
  readonly ranges: readonly RowRange[];
  readonly positions: Int32Array;
}

/** Runs `check-ahead-worker.ts` on the same file, which it opens for reading only. */
export async function checkAhead(path: string, ranges: readonly RowRange[], positions: Int32Array): Promise<Fault[]> {
  const task: CheckAheadTask = { path, ranges, positions };
  const worker = new Worker(workerFile(), { workerData: task });
  const [faults] = await once(worker, 'message');
  return faults as Fault[];
}

/** The worker beside this file: a source in the repository, JavaScript in the package. */
function workerFile(): URL {
  return new URL(`./check-ahead-worker${import.meta.url.slice(import.meta.url.lastIndexOf('.'))}`, import.meta.url);
}
