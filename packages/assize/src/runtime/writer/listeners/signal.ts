/**
 * Callbacks that wait for an event. A callback that stops waiting is removed, so a long wait uses
 * no more memory than a short one.
 */
export class WakeSignal {
  readonly #resting: Set<{ readonly wake: () => void }> = new Set();

  /**
   * Calls `wake` once when the event happens. Calling the returned function first removes the
   * callback.
   */
  wait(wake: () => void): () => void {
    const one = { wake };
    this.#resting.add(one);
    return () => {
      this.#resting.delete(one);
    };
  }

  notifyAll(): void {
    const woken = [...this.#resting];
    this.#resting.clear();
    for (const one of woken) one.wake();
  }

  get size(): number {
    return this.#resting.size;
  }
}
