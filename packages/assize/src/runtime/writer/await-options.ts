import { type ArgumentSchema, arg } from '#base';
import { addMicros, instantToMillis, type Time } from '#canon';
import type { Instant } from '#ledger';

export interface AwaitOptions {
  /** Stops the wait, with the signal's reason. */
  readonly signal?: AbortSignal;
  /** Stops the wait when the clock reaches this time. Default: no limit. */
  readonly until?: Time;
}

export const AWAIT_OPTIONS: ArgumentSchema = arg.options<AwaitOptions>({
  signal: arg.any,
  until: arg.any,
});

/** Random wait between two polls of the store for decisions of other processes, in milliseconds. */
export const POLL_MS: readonly [from: number, to: number] = [250, 750];

/** Same, but no longer than until the first of these times. */
export function pollDelayMs(
  now: Instant,
  times: readonly (Instant | undefined)[],
): [from: number, to: number] {
  const [from, to] = POLL_MS;
  const most = Math.min(...times.map((time) => (time === undefined ? to : msBetween(now, time))));
  return [Math.min(from, most), Math.min(to, most)];
}

/** Whole milliseconds after which the second instant is no longer before the first. */
export function msBetween(from: Instant, to: Instant): number {
  return Math.max(1, instantToMillis(addMicros(to, 999)) - instantToMillis(from));
}
