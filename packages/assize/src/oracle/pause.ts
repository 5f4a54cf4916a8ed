import { setTimeout as sleep } from 'node:timers/promises';
import { arg, checkArgument } from '#base';
import { systemRandom } from './random.ts';

/**
 * Waits for a random number of milliseconds between the two bounds, so that other callers can go
 * first. The signal ends the wait early.
 */
export type Pause = (from: number, to: number, signal?: AbortSignal) => Promise<void>;

/** Node reduces longer ones to one millisecond. */
const MILLISECONDS = arg.of(
  'a number of milliseconds',
  (value) => typeof value === 'number' && value >= 0 && value < 2 ** 31,
);

/** @throws ArgumentError `bad_argument` */
export const systemPause: Pause = async (from, to, signal) => {
  checkArgument(MILLISECONDS, from, 'from');
  checkArgument(MILLISECONDS, to, 'to');
  checkArgument(arg.optional(arg.object), signal, 'signal');
  const ms = from + ((to - from) * systemRandom.bytes(1)[0]!) / 255;
  try {
    await sleep(ms, undefined, signal === undefined ? {} : { signal });
  } catch (error) {
    if (signal?.aborted !== true) throw error;
  }
};
