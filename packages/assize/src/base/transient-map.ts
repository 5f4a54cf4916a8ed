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
