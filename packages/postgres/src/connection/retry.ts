import { setTimeout as sleep } from 'node:timers/promises';
import { isAssizeError } from 'assize/internal/base';
import { systemRandom } from 'assize/internal/oracle';

/** The pause before the second attempt. Each further pause is twice as long, up to the last. */
const PAUSE_MS = 50;
const PAUSE_MS_MAX = 2_000;

/**
 * Runs `step` until the server can be reached, at most `attempts` times. Other errors pass through.
 * @throws the reason of the signal, also during a pause
 */
export async function whenReachable<T>(
  attempts: number,
  step: () => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await step();
    } catch (error) {
      if (attempt >= attempts || !isAssizeError(error, 'store_unreachable') || !error.retryable)
        throw error;
    }
    await sleep(pauseMs(attempt), undefined, { signal }).catch(() => signal?.throwIfAborted());
  }
}

/** Half of the pause is random, so clients that lost the server together do not return together. */
export function pauseMs(attempt: number): number {
  const pause = Math.min(PAUSE_MS * 2 ** (attempt - 1), PAUSE_MS_MAX);
  return (pause * (255 + systemRandom.bytes(1)[0]!)) / 510;
}
