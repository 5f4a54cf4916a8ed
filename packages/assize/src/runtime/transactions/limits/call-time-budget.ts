/**
 * The total time that a transaction spends on tools that do not answer or that refuse. The limit
 * bounds the wait of other transactions, however many effects and attempts there are
 * (docs/decisions/015-effect-order.md). One call may use half of the remaining time, so that later
 * calls have some left. An answered call uses none, however long it took.
 */
export class CallTimeBudget {
  #leftMs: number;

  constructor(ms: number) {
    this.#leftMs = ms;
  }

  /** The part of these milliseconds that may be waited now, at least one. */
  limit(ms: number): number {
    return Math.max(1, Math.min(ms, Math.floor(this.#leftMs / 2)));
  }

  /** Subtracts milliseconds of a wait without an answer. */
  spend(ms: number): void {
    this.#leftMs = Math.max(0, this.#leftMs - ms);
  }
}
