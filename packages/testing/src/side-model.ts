import type { SideChange } from 'assize/internal/ledger';

/** A naive side store of one kind: a list of rows. It takes the versions of the store it models. */
export class SideModel {
  #rows: (readonly [string, string])[] = [];

  /** The keys and bodies, in the order of ASCII keys. */
  get rows(): readonly (readonly [string, string])[] {
    return this.#rows.toSorted(([a], [b]) => (a < b ? -1 : 1));
  }

  /** Whether the put is written. `versions`: the version of each key before the put. */
  put(changes: readonly SideChange[], versions: ReadonlyMap<string, number | null>): boolean {
    for (const { key, expected } of changes) if (versions.get(key) !== expected) return false;
    for (const { key, body } of changes) {
      this.#rows = this.#rows.filter((row) => row[0] !== key);
      if (body !== null) this.#rows.push([key, body]);
    }
    return true;
  }
}
