/**
 * A map that keeps what was used lately: at least the last `size` entries, at most twice as many. Forgetting costs
 * nothing at a time: a full generation becomes the old one, and what is not asked for until the next is full goes with it.
 * (Deleting the first key of a large `Map` again and again does not: each look for the first walks over what was deleted.)
 */
export class RecentMap<Key, Value> {
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
