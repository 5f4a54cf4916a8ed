import { type FactRow, keyText, type RowKey, validOf } from './fact.ts';
import { overlaps, type Period } from './period.ts';

/** The columns that determine a row's order. */
export type OpenKey = RowKey & Pick<FactRow, 'valid_from' | 'valid_to'>;

/**
 * The open rows of one partition, by key and in order of their start. The set changes in place.
 * Each call costs a search plus the matching rows, regardless of the length of the history.
 * Overlapping rows are tested one by one, because their ends are unsorted.
 */
export class OpenSet<Row extends OpenKey> implements Iterable<Row> {
  readonly #byKey: Map<string, Row>;
  readonly #inOrder: Row[];
  /** Whether no rows overlap. Not computed again after a removal. */
  #isNonOverlapping: boolean;

  /** Accepts rows in any order, with distinct keys. */
  constructor(rows: Iterable<Row> = []) {
    this.#byKey = new Map(Array.from(rows, (row) => [keyText(row), row]));
    this.#inOrder = [...this.#byKey.values()].sort(byBeginning);
    this.#isNonOverlapping = this.#inOrder.every(
      (row, n) => n === 0 || this.#inOrder[n - 1]!.valid_to <= row.valid_from,
    );
  }

  get size(): number {
    return this.#inOrder.length;
  }

  get(key: RowKey): Row | undefined {
    return this.#byKey.get(keyText(key));
  }

  /** In order of their start. */
  [Symbol.iterator](): Iterator<Row> {
    return this.#inOrder[Symbol.iterator]();
  }

  /** The rows that overlap the period, in order of their start. */
  overlapping(period: Period): Row[] {
    const end = this.#firstThat(({ valid_from }) => valid_from >= period.to);
    if (!this.#isNonOverlapping)
      return this.#inOrder.slice(0, end).filter((row) => overlaps(validOf(row), period));
    return this.#inOrder.slice(
      this.#firstThat(({ valid_to }) => valid_to > period.from),
      end,
    );
  }

  /** Inserts after all rows with the same or an earlier start. The key must be new. */
  add(row: Row): void {
    const at = this.#firstThat(({ valid_from }) => valid_from > row.valid_from);
    const [before, after] = [this.#inOrder[at - 1], this.#inOrder[at]];
    if ((before && before.valid_to > row.valid_from) || (after && after.valid_from < row.valid_to))
      this.#isNonOverlapping = false;
    this.#inOrder.splice(at, 0, row);
    this.#byKey.set(keyText(row), row);
  }

  /** Removes and returns a row. Undefined if it does not exist. */
  delete(key: RowKey): Row | undefined {
    const row = this.get(key);
    if (row === undefined) return undefined;
    const first = this.#firstThat(({ valid_from }) => valid_from >= row.valid_from);
    this.#inOrder.splice(this.#inOrder.indexOf(row, first), 1);
    this.#byKey.delete(keyText(key));
    return row;
  }

  /**
   * Binary search for the first index that satisfies the condition. All later indexes must satisfy
   * it too.
   */
  #firstThat(holds: (row: Row) => boolean): number {
    let [low, high] = [0, this.#inOrder.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (holds(this.#inOrder[middle]!)) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}

function byBeginning(a: OpenKey, b: OpenKey): number {
  return a.valid_from < b.valid_from ? -1 : a.valid_from > b.valid_from ? 1 : 0;
}
