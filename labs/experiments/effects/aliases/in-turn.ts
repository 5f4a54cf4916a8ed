import { setImmediate as othersGoOn } from 'node:timers/promises';

/**
 * Event-loop turns within which unblocked work finishes. No work here waits for a disk or a clock.
 */
const TURNS = 100;

/** Whether it is done by itself, while another one goes on. */
export async function resolvesMeanwhile(work: Promise<unknown>): Promise<boolean> {
  let isDone = false;
  const done = work.then(
    () => {
      isDone = true;
    },
    () => {
      isDone = true;
    },
  );
  for (let turn = 0; turn < TURNS && !isDone; turn++) await Promise.race([done, othersGoOn()]);
  return isDone;
}
