import { setTimeout as sleep } from 'node:timers/promises';
import { form, requireForm } from '#base';
import { systemRandom } from './random.ts';

/**
 * Waits for so many milliseconds, by chance between the two, to let others go first; less long, when the signal says that
 * nobody waits for it any more.
 */
export type Pause = (from: number, to: number, signal?: AbortSignal) => Promise<void>;

/** Node takes longer ones for one millisecond. */
const MILLISECONDS = form.of(
  'a number of milliseconds',
  (value) => typeof value === 'number' && value >= 0 && value < 2 ** 31,
);

/** @throws ArgumentError `bad_argument` */
export const systemPause: Pause = async (from, to, signal) => {
  requireForm(MILLISECONDS, from, 'from');
  requireForm(MILLISECONDS, to, 'to');
  requireForm(form.optional(form.object), signal, 'signal');
  const ms = from + ((to - from) * systemRandom.bytes(1)[0]!) / 255;
  try {
    await sleep(ms, undefined, signal === undefined ? {} : { signal });
  } catch (error) {
    if (signal?.aborted !== true) throw error;
  }
};
