import { DidNothing, NoAnswer } from '#effects';

/** Pauses between tries, in milliseconds: the first, how they grow, and the longest that nobody has asked for. */
const PAUSE_MS = 10;
const GROWTH = 4;
const PAUSE_MAX_MS = 10_000;

/** How long is waited at least before another try, after so many of which the last has failed so: what its sink has told of that counts. */
export function wishedPauseMs(times: number, failure: unknown): number {
  return Math.max(afterMsOf(failure), Math.min(PAUSE_MS * GROWTH ** (times - 1), PAUSE_MAX_MS));
}

/** What its sink has told of when to try again; 0 where it has not, or what is no time. */
export function afterMsOf(failure: unknown): number {
  const { afterMs = 0 } = failure instanceof DidNothing || failure instanceof NoAnswer ? failure : {};
  return Number.isFinite(afterMs) && afterMs > 0 ? afterMs : 0;
}
