import { type Form, form } from '#base';
import { addMicros, instantToMillis } from '#canon';
import type { Instant } from '#ledger';

export interface AwaitOptions {
  /** Stops the waiting, with the signal's reason. */
  readonly signal?: AbortSignal;
  /** Stops the waiting when the clock has come to it. Default: waits as long as it takes. */
  readonly until?: Instant;
}

export const AWAIT_OPTIONS: Form = form.options<AwaitOptions>({ signal: form.any, until: form.any });

/** How long is waited before looking what other processes have decided, in milliseconds, by chance between the two. */
export const LOOK_AGAIN_MS: readonly [from: number, to: number] = [250, 750];

/** The same, and no longer than to the first of these times. */
export function lookAgainMs(now: Instant, times: readonly (Instant | undefined)[]): [from: number, to: number] {
  const [from, to] = LOOK_AGAIN_MS;
  const most = Math.min(...times.map((time) => (time === undefined ? to : msBetween(now, time))));
  return [Math.min(from, most), Math.min(to, most)];
}

/** Whole milliseconds, after which the second is not before the first any more. */
export function msBetween(from: Instant, to: Instant): number {
  return Math.max(1, instantToMillis(addMicros(to, 999)) - instantToMillis(from));
}
