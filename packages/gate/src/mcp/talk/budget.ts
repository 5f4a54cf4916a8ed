/** A number of messages in a time. The rest is dropped, so that a flood costs nothing further. */
export class Budget {
  readonly #most: number;
  readonly #windowMs: number;
  #since = Number.NEGATIVE_INFINITY;
  #taken = 0;

  constructor(most: number, windowMs: number) {
    this.#most = most;
    this.#windowMs = windowMs;
  }

  /** `last`: this one is passed on, and the following ones of the window are not. */
  take(): 'passed' | 'last' | 'dropped' {
    const now = performance.now();
    if (now - this.#since >= this.#windowMs) {
      this.#since = now;
      this.#taken = 0;
    }
    this.#taken += 1;
    if (this.#taken > this.#most) return 'dropped';
    return this.#taken === this.#most ? 'last' : 'passed';
  }
}
