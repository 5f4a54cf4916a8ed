import { addMicros, type Instant } from '#canon';
import type { BatchClock, CommitResult } from '#ledger';
import type { Clock } from '#oracle';

/** The answer if the host's clock is too far ahead of the store's clock. */
export function aheadOf(clock: Clock, time: BatchClock | undefined): CommitResult | undefined {
  if (time === undefined) return undefined;
  const now = clock.now();
  // Most hosts are not ahead at all, and need no arithmetic.
  return time.at <= now || earliestTime(time) <= now ? undefined : { status: 'ahead', now };
}

/** The earliest time, on the store's clock, at which the batch may be written. */
export function earliestTime({ at, maxAheadMs }: BatchClock): Instant {
  return addMicros(at, -maxAheadMs * 1_000);
}
