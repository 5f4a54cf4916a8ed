import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Recovery, VictimArguments } from './points.ts';
import type { Arrival, Sinks } from './sinks.ts';

/** The options with which processes start. */
export interface ProcessOptions {
  /** Ends them. */
  readonly signal: AbortSignal;
  /** A folder in which they keep for each other what they have compiled. */
  readonly compiled?: string | undefined;
}

/** The argument of each process. */
interface Told {
  readonly victim: VictimArguments;
  readonly recoverer: Recovery;
}

/**
 * Runs a separate process until it is killed. `isAtSink`: whether to kill it when that arrival
 * reaches a sink, before the answer.
 *
 * @throws Error if the process is not killed
 */
export async function killed<Program extends keyof Told>(
  program: Program,
  argument: Told[Program],
  { sinks, isAtSink }: { readonly sinks: Sinks; readonly isAtSink: (arrival: Arrival) => boolean },
  { signal, compiled }: ProcessOptions,
): Promise<void> {
  signal.throwIfAborted();
  const args = [
    beginFile(),
    JSON.stringify(argument),
    program,
    ...(compiled === undefined ? [] : [compiled]),
  ];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  sinks.silentTo((arrival) => isAtSink(arrival) && child.kill('SIGKILL'));
  const stop = (): void => void child.kill('SIGKILL');
  signal.addEventListener('abort', stop);
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => {
    said += chunk;
  });
  try {
    const [code, by] = (await once(child, 'close')) as [number | null, string | null];
    signal.throwIfAborted();
    if (by !== 'SIGKILL')
      throw new Error(`The process ended with ${code} and was not killed: ${said}`);
  } finally {
    signal.removeEventListener('abort', stop);
    sinks.silentTo(() => false);
  }
}

/** The program beside: a source in the repository, JavaScript in the package. */
function beginFile(): string {
  const extension = import.meta.url.slice(import.meta.url.lastIndexOf('.'));
  return fileURLToPath(new URL(`./begin${extension}`, import.meta.url));
}
