/**
 * A map of recently used entries: at least the last `size` entries, at most twice that number.
 * Eviction has no single large cost: a full generation becomes the old one, and entries that are
 * not read before the next is full are evicted with it. (Repeatedly deleting the first key of a
 * large `Map` is slow: each search for the first key walks over the deleted ones.)
 */
export class GenerationalMap<Key, Value> {
  readonly #size: number;
  #young: Map<Key, Value> = new Map();
  #old: Map<Key, Value> = new Map();

  constructor(size: number) {
    this.#size = size;
  }

  get(key: Key): Value | undefined {
    const young = this.#young.get(key);
    if (young !== undefined) return young;
    const old = this.#old.get(key);
    if (old !== undefined) this.set(key, old);
    return old;
  }

  set(key: Key, value: Value): void {
    if (this.#young.size >= this.#size && !this.#young.has(key)) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(key, value);
  }

  clear(): void {
    this.#young.clear();
    this.#old.clear();
  }
}
