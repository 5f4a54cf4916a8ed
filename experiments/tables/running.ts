import { setImmediate as othersGoOn } from 'node:timers/promises';
import { form, requireForm } from 'assize/internal/base';

/** Who is told how an experiment goes on, and may stop it. */
export interface Watched {
  readonly signal: AbortSignal;
  /** Told after each part. */
  readonly progress: (done: number, of: number) => void;
}

/**
 * Of an experiment in so many parts, the one that is counted from 0: it is told as that share of the whole.
 * @throws ArgumentError `bad_argument`
 */
export function partOf<Running extends Watched>(running: Running, part: number, parts: number): Running {
  requireForm(form.members({ progress: form.code }), running, 'running');
  return { ...running, progress: (done, of) => running.progress(part * of + done, parts * of) };
}

/**
 * Between two runs: what waits in this process has its turn, and whoever wants to stop is heard.
 * @throws the signal's reason; ArgumentError `bad_argument`
 */
export async function breath(watched: Pick<Watched, 'signal'>): Promise<void> {
  requireForm(form.members({ signal: SIGNAL }), watched, 'watched');
  await othersGoOn();
  watched.signal.throwIfAborted();
}

const SIGNAL = form.of('an AbortSignal', (value) => value instanceof AbortSignal);
