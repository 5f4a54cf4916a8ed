import { Worker } from 'node:worker_threads';

/** The exit code of a process that its watchdog ended. */
export const STUCK_EXIT_CODE = 86;

/** The input of the thread. */
export interface WatchTask {
  /** Counts up while the main thread runs its timers. */
  readonly beats: Int32Array;
  readonly limitMs: number;
  readonly tickMs: number;
}

/** The looks of the thread in the time of the limit. */
const LOOKS = 10;
const TICK_MS_MIN = 10;
const TICK_MS_MAX = 250;

/**
 * Ends the process when code blocks its main thread for longer than a limit, such as a rule of a
 * domain that never ends. Standard error says where the code was, and a supervisor starts the
 * server again. `onFailure` receives the error of the thread, as in a bundle without its file:
 * nothing is watched then. Returns a function that ends the watch.
 */
export function startWatchdog(
  limitMs: number,
  onFailure: (error: unknown) => void,
): () => Promise<unknown> {
  const beats = new Int32Array(new SharedArrayBuffer(4));
  const tickMs = Math.min(TICK_MS_MAX, Math.max(TICK_MS_MIN, Math.floor(limitMs / LOOKS)));
  const timer = setInterval(() => Atomics.add(beats, 0, 1), tickMs / 2).unref();
  const task: WatchTask = { beats, limitMs, tickMs };
  const worker = new Worker(new URL('./watchdog-worker.ts', import.meta.url), {
    workerData: task,
    execArgv: [],
  });
  worker.unref();
  worker.once('error', onFailure);
  return () => {
    clearInterval(timer);
    return worker.terminate();
  };
}
