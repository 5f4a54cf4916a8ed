import { yieldToEventLoop } from '../tables/index.ts';
import type { Running } from './experiment.ts';

/** Does something about each, so many at the same time, for what waits more than it works. In the order of what was given. */
export async function runConcurrently<T, Made>(
  running: Running,
  all: readonly T[],
  atOnce: number,
  make: (one: T) => Promise<Made>,
): Promise<Made[]> {
  const made: Made[] = [];
  const left = all.entries();
  let done = 0;
  const work = async (): Promise<void> => {
    for (const [i, one] of left) {
      await yieldToEventLoop(running);
      made[i] = await make(one);
      running.progress(++done, all.length);
    }
  };
  const workers = Array.from({ length: atOnce }, work);
  // Whoever stops, all have to have ended before what they work with is closed.
  const ends = await Promise.allSettled(workers);
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
  return made;
}
