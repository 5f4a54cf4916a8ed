import { setImmediate as othersGoOn } from 'node:timers/promises';
import { arg, checkArgument } from 'assize/internal/base';

/** Who is told how an experiment goes on, and may stop it. */
export interface ProgressListener {
  readonly signal: AbortSignal;
  /** Told after each part. */
  readonly progress: (done: number, of: number) => void;
}

/**
 * Of an experiment in so many parts, the one that is counted from 0: it is told as that share of the whole.
 * @throws ArgumentError `bad_argument`
 */
export function partOf<Running extends ProgressListener>(running: Running, part: number, parts: number): Running {
  checkArgument(arg.members({ progress: arg.code }), running, 'running');
  return { ...running, progress: (done, of) => running.progress(part * of + done, parts * of) };
}

/**
 * Between two runs: what waits in this process has its turn, and whoever wants to stop is heard.
 * @throws the signal's reason; ArgumentError `bad_argument`
 */
export async function yieldToEventLoop(watched: Pick<ProgressListener, 'signal'>): Promise<void> {
  checkArgument(arg.members({ signal: SIGNAL }), watched, 'watched');
  await othersGoOn();
  watched.signal.throwIfAborted();
}

const SIGNAL = arg.of('an AbortSignal', (value) => value instanceof AbortSignal);
