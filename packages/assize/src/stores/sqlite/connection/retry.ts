import { setTimeout as sleep } from 'node:timers/promises';
import { isBusy, lockedError } from '../errors.ts';

/**
 * The longest time that a call to SQLite blocks the event loop while another connection holds the
 * lock. After it the wait continues asynchronously until the store's own limit.
 */
export const BLOCKING_WAIT_MS = 20;

/** The pause between two attempts. */
export const PAUSE_MS = 10;

/**
 * Runs `step`, and retries it while another connection holds the lock. Throws `store_locked` after
 * `timeoutMs`. Other errors pass through.
 */
export function whenUnlocked<T>(step: () => T, path: string, timeoutMs: number): T | Promise<T> {
  try {
    return step();
  } catch (error) {
    if (!isBusy(error)) throw error;
    return onceUnlocked(step, path, timeoutMs, error);
  }
}

async function onceUnlocked<T>(
  step: () => T,
  path: string,
  timeoutMs: number,
  first: unknown,
): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  for (let busy = first; ; ) {
    if (performance.now() >= deadline) throw lockedError(path, timeoutMs, busy);
    await sleep(PAUSE_MS);
    try {
      return step();
    } catch (error) {
      if (!isBusy(error)) throw error;
      busy = error;
    }
  }
}
