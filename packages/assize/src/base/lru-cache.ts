/** A map of the most recently used entries, up to a maximum number. */
export class LruCache<Value> {
  readonly #entries = new Map<string, Value>();
  readonly #sizeMax: number;

  constructor(sizeMax: number) {
    this.#sizeMax = sizeMax;
  }

  /**
   * The value stored under the key, or the result of `make`. An error of `make` is rethrown, and
   * nothing is stored.
   */
  get(key: string, make: () => Value): Value {
    const kept = this.#entries.get(key);
    if (kept !== undefined) {
      // A Map iterates in the order of insertion, so the entry used last moves to the end.
      this.#entries.delete(key);
      this.#entries.set(key, kept);
      return kept;
    }
    const made = make();
    if (this.#entries.size >= this.#sizeMax) this.#entries.delete(this.#entries.keys().next().value!);
    this.#entries.set(key, made);
    return made;
  }

  delete(key: string): void {
    this.#entries.delete(key);
  }

  get size(): number {
    return this.#entries.size;
  }
}
