import type { FactVersion, FactWrite } from '#ledger';
import { type Cardinality, checkOpen, type FactRow, objectKey, type Period, type PredicateDeclaration } from '#memory';

/** Where something is said, and of which object; without one, of all that there are. */
export interface Touch {
  readonly valid: Period;
  readonly object?: string | undefined;
}

/**
 * What is open of a partition, in the order of its beginning. A history may be long, and what is said meets little of it: a write looks at
 * what it meets alone. Whether all of it may stand together is looked at once, since what is planned on it may again.
 * Never changed: what is accepted makes another one.
 */
export class OpenRows {
  readonly all: readonly FactVersion[];
  /** As which all of it is known to stand together. */
  readonly #checked: Set<Cardinality>;

  private constructor(all: readonly FactVersion[], checked: Iterable<Cardinality> = []) {
    this.all = all;
    this.#checked = new Set(checked);
  }

  /** Rows in any order. */
  static of(rows: readonly FactVersion[]): OpenRows {
    return new OpenRows([...rows].sort(byBeginning));
  }

  /**
   * Those that a plan for what is said there depends on, in order: what overlaps it, and where there are several values only what has an object
   * that it names.
   *
   * @throws MemoryError as `checkOpen` does
   */
  touched(touches: readonly Touch[], declaration: PredicateDeclaration): readonly FactVersion[] {
    this.#requireApart(declaration);
    if (declaration.cardinality === 'single-valued') return this.#overlapping(touches.map(({ valid }) => valid));
    const periods = Map.groupBy(touches, ({ object }) => (object === undefined ? undefined : objectKey(object)));
    const meets = (row: FactVersion, object?: string): boolean =>
      periods.get(object)?.some(({ valid }) => overlaps(row, valid)) === true;
    return this.all.filter((row) => meets(row, objectKey(row.object)) || meets(row));
  }

  /** After a change that was planned on it. */
  changed({ close, insert }: Pick<FactWrite, 'close' | 'insert'>): OpenRows {
    const ended = new Map(close.map(({ fact_id, system_time_start }) => [fact_id, system_time_start]));
    const all = this.all.filter((row) => ended.get(row.fact_id) !== row.system_time_start);
    const current = insert.filter(({ row_kind }) => row_kind === 'current');
    for (const row of current)
      all.splice(
        placeAfter(all, ({ valid_from }) => valid_from <= row.valid_from),
        0,
        row,
      );
    const stillChecked = [...this.#checked].filter((as) => current.every(({ cardinality }) => cardinality === as));
    return new OpenRows(all, stillChecked);
  }

  #requireApart(declaration: PredicateDeclaration): void {
    const { cardinality } = declaration;
    if (this.#checked.has(cardinality)) return;
    checkOpen(this.all.map(orderedRow), declaration);
    this.#checked.add(cardinality);
  }

  /** Of rows that do not overlap each other, so that they are in the order of their ends too. */
  #overlapping(periods: readonly Period[]): FactVersion[] {
    const found = new Set<number>();
    for (const { from, to } of periods) {
      const first = placeAfter(this.all, ({ valid_to }) => valid_to <= from);
      for (let n = first; n < this.all.length && this.all[n]!.valid_from < to; n++) found.add(n);
    }
    return [...found].sort((a, b) => a - b).map((n) => this.all[n]!);
  }
}

/** The row as a plan has it, without what only a store has of it; in canonical order, so that the text of a witness takes half the time. */
export function orderedRow(row: FactVersion): FactRow {
  return {
    asserted_from: row.asserted_from,
    asserted_seq: row.asserted_seq,
    cardinality: row.cardinality,
    confidence: row.confidence,
    entry_id: row.entry_id,
    fact_id: row.fact_id,
    lineage: row.lineage,
    object: row.object,
    predicate: row.predicate,
    provenance_id: row.provenance_id,
    resolution_id: row.resolution_id,
    resolution_strategy_id: row.resolution_strategy_id as FactRow['resolution_strategy_id'],
    row_kind: row.row_kind,
    seq: row.seq,
    space: row.space,
    subject: row.subject,
    system_time_end: row.system_time_end,
    system_time_start: row.system_time_start,
    valid_from: row.valid_from,
    valid_to: row.valid_to,
  };
}

function overlaps({ valid_from, valid_to }: FactVersion, { from, to }: Period): boolean {
  return valid_from < to && from < valid_to;
}

/** Behind all for which it holds; they come first. */
function placeAfter(rows: readonly FactVersion[], holds: (row: FactVersion) => boolean): number {
  let [low, high] = [0, rows.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(rows[middle]!)) low = middle + 1;
    else high = middle;
  }
  return low;
}

function byBeginning(a: FactVersion, b: FactVersion): number {
  return a.valid_from < b.valid_from ? -1 : a.valid_from > b.valid_from ? 1 : 0;
}
