import { isInstance } from '#base';
import { DidNothing, NoAnswer } from '#effects';

/**
 * Pauses between attempts, in milliseconds: the first, the growth factor, and the longest without a
 * request of the sink.
 */
const PAUSE_MS = 10;
const GROWTH = 4;
const PAUSE_MAX_MS = 10_000;

/**
 * The minimum pause before the next attempt, after `times` attempts and the last error. A wait that
 * the sink requested counts.
 */
export function backoffMs(times: number, failure: unknown): number {
  return Math.max(afterMsOf(failure), Math.min(PAUSE_MS * GROWTH ** (times - 1), PAUSE_MAX_MS));
}

/** The wait that the sink requested. Returns 0 if there is none or it is not a valid time. */
export function afterMsOf(failure: unknown): number {
  const { afterMs = 0 } =
    isInstance(failure, DidNothing) || isInstance(failure, NoAnswer) ? failure : {};
  return Number.isFinite(afterMs) && afterMs > 0 ? afterMs : 0;
}
