/** Those who rest until something happens. Who stops resting leaves, so that a long wait holds no more than a short one. */
export class Wakers {
  readonly #resting: Set<{ readonly wake: () => void }> = new Set();

  /** `wake` is called once, when it happens, unless the answer was called before: who rests leaves by it. */
  rest(wake: () => void): () => void {
    const one = { wake };
    this.#resting.add(one);
    return () => {
      this.#resting.delete(one);
    };
  }

  wake(): void {
    const woken = [...this.#resting];
    this.#resting.clear();
    for (const one of woken) one.wake();
  }

  get size(): number {
    return this.#resting.size;
  }
}
