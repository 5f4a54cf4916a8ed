/**
 * A map that mostly has few entries. Up to eight are stored in a row: it is cheaper to build and
 * search than a hash table.
 */
export class SmallMap<V> {
  #keys: string[] = NONE;
  #values: V[] = NONE;
  /** The index of a key, once there are many. */
  #places: Map<string, number> | undefined;

  get size(): number {
    return this.#keys.length;
  }

  /** In the order of insertion. */
  get keys(): readonly string[] {
    return this.#keys;
  }

  has(key: string): boolean {
    return this.#placeOf(key) >= 0;
  }

  get(key: string): V | undefined {
    const place = this.#placeOf(key);
    return place < 0 ? undefined : this.#values[place];
  }

  set(key: string, value: V): void {
    const place = this.#placeOf(key);
    if (place >= 0) {
      this.#values[place] = value;
      return;
    }
    if (this.#keys === NONE) {
      this.#keys = [key];
      this.#values = [value];
      return;
    }
    this.#places?.set(key, this.#keys.length);
    this.#keys.push(key);
    this.#values.push(value);
    if (this.#keys.length === MANY)
      this.#places = new Map(this.#keys.map((known, i) => [known, i]));
  }

  #placeOf(key: string): number {
    return this.#places === undefined ? this.#keys.indexOf(key) : (this.#places.get(key) ?? -1);
  }
}

const MANY = 9;
/** Shared by maps without entries. Never written to. */
const NONE: never[] = [];
