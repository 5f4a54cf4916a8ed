import { setTimeout as sleep } from 'node:timers/promises';
import { isBusy, lockedError } from '../errors.ts';

/**
 * What one call to SQLite may block the event loop while another connection holds the lock. Past it, waiting goes on
 * asynchronously until the store's own limit.
 */
export const BLOCKING_WAIT_MS = 20;

/** Between two tries. */
export const PAUSE_MS = 10;

/**
 * Runs `step`, which mostly gets what it wants at once, and else until no one else holds the lock; after `timeoutMs` throws `store_locked`.
 * Other errors pass through.
 */
export function whenUnlocked<T>(step: () => T, path: string, timeoutMs: number): T | Promise<T> {
  try {
    return step();
  } catch (error) {
    if (!isBusy(error)) throw error;
    return onceUnlocked(step, path, timeoutMs, error);
  }
}

async function onceUnlocked<T>(step: () => T, path: string, timeoutMs: number, first: unknown): Promise<T> {
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
