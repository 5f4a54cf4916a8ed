import { randomBytes } from 'node:crypto';
import { keyedHash } from 'assize/internal/canon';
import type { Limits } from './requests/limits.ts';
import { RateLimiter } from './requests/rate-limiter.ts';

/** All addresses together have this many times the limits of one. */
const TOGETHER = 20;
/** Hex digits of a slot: there are 65,536 slots. */
const SLOT_DIGITS = 4;

/**
 * The sign-ins of each client address, and of all together. An address counts like a principal, so
 * a stranger that sends too many locks out itself. Addresses share a fixed number of slots, chosen
 * by a secret of the process.
 */
export class SignInLimiter {
  readonly #each: RateLimiter;
  readonly #all: RateLimiter;
  readonly #secret: Uint8Array = randomBytes(32);

  /** `nowMs`: a monotonic clock in milliseconds. */
  constructor(limits: Limits, nowMs: () => number) {
    const { requestsPerSecond, concurrency } = limits;
    this.#each = new RateLimiter(limits, nowMs);
    this.#all = new RateLimiter(
      {
        ...limits,
        requestsPerSecond: requestsPerSecond * TOGETHER,
        concurrency: concurrency * TOGETHER,
      },
      nowMs,
    );
  }

  /**
   * Counts a request of an address, and returns the function that ends it.
   *
   * @throws ServerError `too_fast`
   */
  enter(address: string): () => void {
    // First the address: what is refused here uses nothing of the others.
    const leave = this.#each.enter(this.#slotOf(address), 'This address');
    try {
      const leaveAll = this.#all.enter('', 'The sign-in');
      return () => {
        leave();
        leaveAll();
      };
    } catch (error) {
      leave();
      throw error;
    }
  }

  #slotOf(address: string): string {
    return keyedHash(this.#secret, address).slice(0, SLOT_DIGITS);
  }
}
