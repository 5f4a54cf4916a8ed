/** The decay of the caller estimate: each answer removes this part of the difference. */
const FORGOTTEN = 1 / 16;

/**
 * An estimate of the number of concurrent callers, from recent observations.
 *
 * A group is written when half of the callers wait. The process then prepares the requests of the
 * other half during the write, so neither side waits for the other. Smaller groups cause more
 * syncs. Larger groups make both sides wait in turns.
 */
export class CallersInFlight {
  #seen = 1;

  /** Records the number of unanswered calls now. */
  asking(count: number): void {
    this.#seen = Math.max(this.#seen, count);
  }

  /** Records the number of calls that were unanswered until some of them were answered. */
  answered(count: number): void {
    this.#seen -= (this.#seen - count) * FORGOTTEN;
  }

  /** The estimated number of callers, as a decaying average. */
  get seen(): number {
    return this.#seen;
  }

  /**
   * Half of the callers, at least one. For an odd number this is the smaller half. An occasional
   * extra caller, such as a settlement, would otherwise delay one half each time.
   */
  get half(): number {
    return Math.max(1, Math.floor(Math.round(this.#seen) / 2));
  }
}
