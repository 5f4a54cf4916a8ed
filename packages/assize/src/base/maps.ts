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
    if (this.#entries.size >= this.#sizeMax)
      this.#entries.delete(this.#entries.keys().next().value!);
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

/** Minimum number of insertions after which the entries are copied into a new map. */
const RENEWED_AFTER = 128;

/**
 * A map for short-lived entries. It keeps the order of insertion, as a `Map` does.
 *
 * A long-lived `Map` of V8 retains its deleted entries. It moves into a new table whenever the old
 * one is full of deleted entries. The old table refers to the new one (for running iterators). Once
 * one of these tables is in the old generation, minor collections cannot collect the next one. That
 * one retains its successor, with all entries at that time, until a major collection. So this map
 * is rebuilt before the chain becomes long. A rebuild copies no more entries than were added since
 * the last one.
 *
 * Do not iterate while entries are added: an iterator may miss them.
 */
export class TransientMap<Key, Value> {
  #entries: Map<Key, Value> = new Map();
  /** Since the last rebuild. */
  #added = 0;

  get size(): number {
    return this.#entries.size;
  }

  get(key: Key): Value | undefined {
    return this.#entries.get(key);
  }

  has(key: Key): boolean {
    return this.#entries.has(key);
  }

  set(key: Key, value: Value): void {
    if (this.#added >= RENEWED_AFTER && this.#added >= this.#entries.size) {
      this.#entries = new Map(this.#entries);
      this.#added = 0;
    }
    this.#added++;
    this.#entries.set(key, value);
  }

  /** Whether the key existed. */
  delete(key: Key): boolean {
    return this.#entries.delete(key);
  }

  clear(): void {
    this.#entries = new Map();
    this.#added = 0;
  }

  keys(): IterableIterator<Key> {
    return this.#entries.keys();
  }

  values(): IterableIterator<Value> {
    return this.#entries.values();
  }

  [Symbol.iterator](): IterableIterator<[Key, Value]> {
    return this.#entries[Symbol.iterator]();
  }
}
