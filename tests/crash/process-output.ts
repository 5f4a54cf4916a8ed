import { writeSync } from 'node:fs';

// The output of a process of writers to `writer-process.ts`: a line for each event, with the time.

/** Microseconds of the machine's one clock, the same for all processes. */
export function now(): number {
  return Number(process.hrtime.bigint() / 1_000n);
}

/**
 * Written synchronously, so that no answer is lost with the process. The reader can be slow, and
 * the pipe is non-blocking.
 */
export function say(line: string): void {
  let left = Buffer.from(`${line}\n`);
  while (left.length > 0) {
    try {
      left = left.subarray(writeSync(1, left));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
      Atomics.wait(PAUSE, 0, 0, 1);
    }
  }
}

/** Never woken. */
const PAUSE = new Int32Array(new SharedArrayBuffer(4));
