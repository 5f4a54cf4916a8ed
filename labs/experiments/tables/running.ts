import { setImmediate as othersGoOn } from 'node:timers/promises';
import { arg, checkArgument } from 'assize/internal/base';

/** The listener for an experiment's progress. It can stop the experiment. */
export interface ProgressListener {
  readonly signal: AbortSignal;
  /** Told after each part. */
  readonly progress: (done: number, of: number) => void;
}

/**
 * The listener for one of several parts of an experiment, counted from 0. It reports the part's
 * progress as a share of the whole.
 * @throws ArgumentError `bad_argument`
 */
export function partOf<Running extends ProgressListener>(
  running: Running,
  part: number,
  parts: number,
): Running {
  checkArgument(arg.members({ progress: arg.code }), running, 'running');
  return { ...running, progress: (done, of) => running.progress(part * of + done, parts * of) };
}

/**
 * Between two runs: lets waiting tasks of this process run, and checks the abort signal.
 * @throws the signal's reason; ArgumentError `bad_argument`
 */
export async function yieldToEventLoop(watched: Pick<ProgressListener, 'signal'>): Promise<void> {
  checkArgument(arg.members({ signal: SIGNAL }), watched, 'watched');
  await othersGoOn();
  watched.signal.throwIfAborted();
}

const SIGNAL = arg.of('an AbortSignal', (value) => value instanceof AbortSignal);
