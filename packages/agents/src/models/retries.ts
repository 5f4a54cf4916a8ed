import { arg, checkArgument, isInstance } from 'assize/internal/base';
import { type Pause, systemPause } from 'assize/internal/oracle';
import { badOption, ModelError } from './errors.ts';

/** How often a failed request is repeated. */
export interface RetryOptions {
  /**
   * Repetitions after a rate limit, a failure of the provider, a lost connection or a cut answer: 0
   * to 10. Default: 2. A time-out is not repeated.
   */
  readonly retries?: number;
  /**
   * The longest wait before a repetition. If the provider asks for more, the request fails
   * immediately. Default: 60,000.
   */
  readonly retryWaitMaxMs?: number;
  /** Waits between two requests. For tests. Default: the system's timer. */
  readonly pause?: Pause;
}

/** Options with all defaults. */
export type Retries = Required<RetryOptions>;

const RETRIES_MAX = 10;
const WAIT_MAX_MS = 60_000;
/** The wait before the first repetition, if the provider names none. It doubles each time. */
const FIRST_WAIT_MS = 500;

/** @throws ModelError `bad_argument`; ArgumentError `bad_argument` */
export function retriesOf({
  retries = 2,
  retryWaitMaxMs = WAIT_MAX_MS,
  pause = systemPause,
}: RetryOptions): Retries {
  if (!Number.isSafeInteger(retries) || retries < 0 || retries > RETRIES_MAX)
    throw badOption('retries', `pass a whole number from 0 to ${RETRIES_MAX}`);
  if (!Number.isSafeInteger(retryWaitMaxMs) || retryWaitMaxMs < 0 || retryWaitMaxMs >= 2 ** 31)
    throw badOption('retryWaitMaxMs', 'pass a whole number of milliseconds');
  checkArgument(arg.code, pause, 'pause');
  return { retries, retryWaitMaxMs, pause };
}

const REPEATED: ReadonlySet<string> = new Set([
  'rate_limited',
  'provider_failed',
  'unreachable',
  'unreachable',
]);

/**
 * Repeats a request while the error is one that may pass.
 *
 * @throws the error of the last request; the reason of the signal
 */
export async function withRetries<T>(
  { retries, retryWaitMaxMs, pause }: Retries,
  signal: AbortSignal | undefined,
  request: () => Promise<T>,
): Promise<T> {
  for (let tries = 0; ; tries++) {
    signal?.throwIfAborted();
    try {
      return await request();
    } catch (error) {
      signal?.throwIfAborted();
      if (!isInstance(error, ModelError) || !REPEATED.has(error.code) || tries === retries)
        throw error;
      const { afterMs } = error.evidence;
      const wait = typeof afterMs === 'number' ? afterMs : FIRST_WAIT_MS * 2 ** tries;
      if (wait > retryWaitMaxMs) throw error;
      // Others were limited at the same time, so not all return at the same time.
      await pause(wait, Math.min(wait * 1.25, retryWaitMaxMs), signal);
    }
  }
}

/** The wait that a server asks for, in milliseconds (RFC 9110 section 10.2.3). */
export function retryAfterMs(headers: {
  readonly [name: string]: string | undefined;
}): number | undefined {
  const { 'retry-after': after, date } = headers;
  const precise = Number(headers['retry-after-ms'] ?? Number.NaN);
  if (Number.isFinite(precise) && precise >= 0) return Math.ceil(precise);
  if (after === undefined) return undefined;
  // The server's own clock, if the answer has a date.
  const ms = /^\d+(\.\d+)?$/.test(after)
    ? 1_000 * Number(after)
    : Date.parse(after) - Date.parse(date ?? '');
  return Number.isFinite(ms) && ms >= 0 ? Math.ceil(ms) : undefined;
}
