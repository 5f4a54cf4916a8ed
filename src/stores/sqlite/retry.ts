import { setTimeout as sleep } from 'node:timers/promises';
import { isBusy, lockedError } from './errors.ts';

/**
 * What one call to SQLite may block the event loop while another connection holds the lock. Past it, waiting goes on
 * asynchronously until the store's own limit.
 */
export const BLOCKING_WAIT_MS = 20;

/** Between two tries. */
export const PAUSE_MS = 10;

/** Runs `step` until no one else holds the lock; after `timeoutMs` throws `store_locked`. Other errors pass through. */
export async function whenUnlocked<T>(step: () => T, path: string, timeoutMs: number): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    try {
      return step();
    } catch (error) {
      if (!isBusy(error)) throw error;
      if (performance.now() >= deadline) throw lockedError(path, timeoutMs, error);
    }
    await sleep(PAUSE_MS);
  }
}
