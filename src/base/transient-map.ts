/** After so many entries, at least, what is there is copied into a new map. */
const RENEWED_AFTER = 128;

/**
 * A map of what comes and goes: in the order of insertion, as a `Map`, and for entries that are mostly deleted soon.
 *
 * A `Map` of V8 that lives long holds on to what was deleted from it. It moves into a new table whenever the old one is full of deleted
 * entries, and the old table refers to the new one (for iterators that are under way). Once one of these tables was moved to the old
 * generation, it keeps the next one from being collected by the frequent minor collections, and that the next, with all that was in them
 * then, until a major one. So this map is made anew before that becomes long; that copies no more entries than were added since.
 *
 * Not for iteration while entries are added: an iterator may miss them.
 */
export class ChurnMap<Key, Value> {
  #entries: Map<Key, Value> = new Map();
  /** Since it was made anew. */
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

  /** Whether it was there. */
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
