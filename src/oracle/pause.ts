import { setTimeout as sleep } from 'node:timers/promises';
import { systemRandom } from './random.ts';

/** Waits for so many milliseconds, by chance between the two, to let others go first. */
export type Pause = (from: number, to: number) => Promise<void>;

export const systemPause: Pause = async (from, to) => {
  await sleep(from + ((to - from) * systemRandom.bytes(1)[0]!) / 255);
};
