import { writeSync } from 'node:fs';

// What a process of writers says to `writer-process.ts`: a line for each thing, with the time.

/** Microseconds of the machine's one clock, the same for all processes. */
export function now(): number {
  return Number(process.hrtime.bigint() / 1_000n);
}

/** Written at once, so that no answer is lost with the process. */
export function say(line: string): void {
  writeSync(1, `${line}\n`);
}
