import { setTimeout as sleep } from 'node:timers/promises';
import { systemRandom } from './random.ts';

/**
 * Waits for so many milliseconds, by chance between the two, to let others go first; less long, when the signal says that
 * nobody waits for it any more.
 */
export type Pause = (from: number, to: number, signal?: AbortSignal) => Promise<void>;

export const systemPause: Pause = async (from, to, signal) => {
  const ms = from + ((to - from) * systemRandom.bytes(1)[0]!) / 255;
  try {
    await sleep(ms, undefined, signal === undefined ? {} : { signal });
  } catch (error) {
    if (signal?.aborted !== true) throw error;
  }
};
