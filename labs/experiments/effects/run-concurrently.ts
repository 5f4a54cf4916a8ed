import { yieldToEventLoop } from '../tables/index.ts';
import type { Running } from './experiment.ts';

/**
 * Runs `make` for each item, `atOnce` items at a time, for work that mostly waits. Returns the
 * results in the order of the items.
 */
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
  // All workers must end before the caller closes their resources, even if one worker fails.
  const ends = await Promise.allSettled(workers);
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
  return made;
}
