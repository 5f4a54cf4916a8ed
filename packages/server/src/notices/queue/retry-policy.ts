import type { Random } from 'assize/internal/oracle';

/** The pauses between attempts. */
export interface RetryPolicy {
  /** The pause after the first attempt. Each further pause is twice as long, up to `maxMs`. */
  readonly firstMs: number;
  readonly maxMs: number;
  /** The attempts after which a notice is given up. */
  readonly attempts: number;
}

/** Twenty attempts in about half a day. */
export const RETRY: RetryPolicy = { firstMs: 2_000, maxMs: 3_600_000, attempts: 20 };

/** The pause after the n-th attempt. Half of it is random, so receivers are not called in waves. */
export function pauseAfter(
  attempts: number,
  { firstMs, maxMs }: RetryPolicy,
  random: Random,
): number {
  const pause = Math.min(maxMs, firstMs * 2 ** (attempts - 1));
  const [high = 0, low = 0] = random.bytes(2);
  return Math.round((pause * (1 + (high * 256 + low) / 65_535)) / 2);
}
