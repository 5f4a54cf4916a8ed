import { ServerError } from '@assize/command/operation';
import type { Limits } from './limits.ts';

/** A principal may save requests of this many seconds. */
const BURST_SECONDS = 4;
/** A body counts as one more request for each of so many bytes, and for each of so many names. */
const CHARGED_BYTES = 32_768;
const CHARGED_NAMES = 1_024;
/** Principals without requests for this long are forgotten. */
const IDLE_MS = 60_000;

/** The further requests that a body is charged for. */
export function chargeOf(size: { readonly bytes: number; readonly names: number }): number {
  return Math.floor(size.bytes / CHARGED_BYTES) + Math.floor(size.names / CHARGED_NAMES);
}

interface Use {
  /** Requests that may start now. */
  saved: number;
  at: number;
  running: number;
  streams: number;
}

/**
 * The requests of each principal: a token bucket, and the number of concurrent requests and
 * streams. One process counts alone, so N processes accept up to N times as many.
 */
export class RateLimiter {
  readonly #limits: Limits;
  readonly #nowMs: () => number;
  readonly #uses: Map<string, Use> = new Map();
  #sweptAt: number;

  /** `nowMs`: a monotonic clock in milliseconds. */
  constructor(limits: Limits, nowMs: () => number) {
    this.#limits = limits;
    this.#nowMs = nowMs;
    this.#sweptAt = nowMs();
  }

  /**
   * Counts a request, and returns the function that ends it. `called`: the principal's name in the
   * message of a refusal.
   *
   * @throws ServerError `too_fast`
   */
  enter(principal: string, called: string = principal): () => void {
    const use = this.#use(principal);
    const { requestsPerSecond, concurrency } = this.#limits;
    if (use.running >= concurrency)
      throw tooFast(
        `${called} already has ${concurrency} requests in progress, the most allowed`,
        1,
      );
    if (use.saved < 1)
      throw tooFast(
        `${called} sends too many requests`,
        Math.ceil((1 - use.saved) / requestsPerSecond),
      );
    use.saved -= 1;
    use.running += 1;
    return once(() => {
      use.running -= 1;
    });
  }

  /**
   * Counts a request as so many more. A request that exceeds the burst passes when nothing of the
   * burst is used, and its principal then waits for longer.
   *
   * @throws ServerError `too_fast`
   */
  charge(principal: string, requests: number): void {
    const use = this.#use(principal);
    const { requestsPerSecond } = this.#limits;
    // The request itself has been counted.
    const needed = Math.min(requests, requestsPerSecond * BURST_SECONDS - 1);
    if (use.saved < needed)
      throw tooFast(
        `${principal} sends too much`,
        Math.ceil((needed - use.saved) / requestsPerSecond),
      );
    use.saved -= requests;
  }

  /**
   * Counts an event stream, and returns the function that ends it.
   *
   * @throws ServerError `too_many_open`
   */
  openStream(principal: string): () => void {
    const use = this.#use(principal);
    if (use.streams >= this.#limits.streams)
      throw new ServerError(
        'too_many_open',
        `${principal} already has ${this.#limits.streams} open event streams, the most allowed. Close one.`,
        { evidence: { principal } },
      );
    use.streams += 1;
    return once(() => {
      use.streams -= 1;
    });
  }

  #use(principal: string): Use {
    const now = this.#nowMs();
    this.#sweep(now);
    const most = this.#limits.requestsPerSecond * BURST_SECONDS;
    const use = this.#uses.get(principal) ?? { saved: most, at: now, running: 0, streams: 0 };
    use.saved = Math.min(
      most,
      use.saved + ((now - use.at) / 1_000) * this.#limits.requestsPerSecond,
    );
    use.at = now;
    this.#uses.set(principal, use);
    return use;
  }

  #sweep(now: number): void {
    if (now - this.#sweptAt < IDLE_MS) return;
    this.#sweptAt = now;
    for (const [name, { at, running, streams }] of this.#uses)
      if (running === 0 && streams === 0 && now - at > IDLE_MS) this.#uses.delete(name);
  }
}

function tooFast(what: string, seconds: number): ServerError {
  return new ServerError('too_fast', `${what}. Wait ${seconds} s, and repeat the request.`, {
    evidence: { retry_after: seconds },
    retryable: true,
  });
}

function once(end: () => void): () => void {
  let ended = false;
  return () => {
    if (ended) return;
    ended = true;
    end();
  };
}
