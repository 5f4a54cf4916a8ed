/** A map that keeps the entries used last, and no more than it was told to. */
export class BoundedCache<Value> {
  readonly #entries = new Map<string, Value>();
  readonly #sizeMax: number;

  constructor(sizeMax: number) {
    this.#sizeMax = sizeMax;
  }

  /** The value kept under the key, or the one that `make` gives; what `make` throws is thrown and nothing kept. */
  get(key: string, make: () => Value): Value {
    const kept = this.#entries.get(key);
    if (kept !== undefined) {
      // A Map iterates in the order of insertion, so what was used last is put at the end.
      this.#entries.delete(key);
      this.#entries.set(key, kept);
      return kept;
    }
    const made = make();
    if (this.#entries.size >= this.#sizeMax) this.#entries.delete(this.#entries.keys().next().value!);
    this.#entries.set(key, made);
    return made;
  }

  get size(): number {
    return this.#entries.size;
  }
}
