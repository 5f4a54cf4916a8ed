import { type FactRow, keyText, type RowKey, validOf } from './fact.ts';
import { overlaps, type Period } from './period.ts';

/** As much of a row as its place among the others is known by. */
export type OpenKey = RowKey & Pick<FactRow, 'valid_from' | 'valid_to'>;

/**
 * What is believed of one partition: its open rows, by what names them and in the order of their beginning. It is changed in place, and
 * each call takes as long as what it meets and a search among the rest, however long the history is. Rows that overlap are found one by
 * one, since their ends are in no order.
 */
export class OpenSet<Row extends OpenKey> implements Iterable<Row> {
  readonly #byKey: Map<string, Row>;
  readonly #inOrder: Row[];
  /** No two of them overlap. Where two did, it is not looked at again when one of them goes. */
  #isApart: boolean;

  /** Of rows in any order, no two of one name. */
  constructor(rows: Iterable<Row> = []) {
    this.#byKey = new Map(Array.from(rows, (row) => [keyText(row), row]));
    this.#inOrder = [...this.#byKey.values()].sort(byBeginning);
    this.#isApart = this.#inOrder.every((row, n) => n === 0 || this.#inOrder[n - 1]!.valid_to <= row.valid_from);
  }

  get size(): number {
    return this.#inOrder.length;
  }

  get(key: RowKey): Row | undefined {
    return this.#byKey.get(keyText(key));
  }

  /** In the order of their beginning. */
  [Symbol.iterator](): Iterator<Row> {
    return this.#inOrder[Symbol.iterator]();
  }

  /** Those that say something of a time in the period, in the order of their beginning. */
  overlapping(period: Period): Row[] {
    const end = this.#firstThat(({ valid_from }) => valid_from >= period.to);
    if (!this.#isApart) return this.#inOrder.slice(0, end).filter((row) => overlaps(validOf(row), period));
    return this.#inOrder.slice(
      this.#firstThat(({ valid_to }) => valid_to > period.from),
      end,
    );
  }

  /** Behind all that begin no later. One of that name is not there. */
  add(row: Row): void {
    const at = this.#firstThat(({ valid_from }) => valid_from > row.valid_from);
    const [before, after] = [this.#inOrder[at - 1], this.#inOrder[at]];
    if ((before && before.valid_to > row.valid_from) || (after && after.valid_from < row.valid_to))
      this.#isApart = false;
    this.#inOrder.splice(at, 0, row);
    this.#byKey.set(keyText(row), row);
  }

  /** What was there; undefined where nothing was. */
  delete(key: RowKey): Row | undefined {
    const row = this.get(key);
    if (row === undefined) return undefined;
    const first = this.#firstThat(({ valid_from }) => valid_from >= row.valid_from);
    this.#inOrder.splice(this.#inOrder.indexOf(row, first), 1);
    this.#byKey.delete(keyText(key));
    return row;
  }

  /** A place that divides them: it holds for all that come after, too, and for none before. */
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
