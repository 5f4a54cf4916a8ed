import type { FactVersion, FactWrite } from '#ledger';
import {
  type Cardinality,
  checkOpen,
  type FactRow,
  OpenSet,
  objectKey,
  type Period,
  type PredicateDeclaration,
} from '#memory';

/** The period and object of a statement; all objects if none is given. */
export interface Touch {
  readonly valid: Period;
  readonly object?: string | undefined;
}

/**
 * The open rows of a partition. A history may be long, but a statement overlaps few rows, so a
 * write reads only those. All rows are checked for consistency once, because plans keep them
 * consistent.
 */
export class OpenRows {
  readonly #rows: OpenSet<FactVersion>;
  /** By object key; built on first use, and never for predicates with one value at a time. */
  #ofObjects: Map<string, OpenSet<FactVersion>> | undefined;
  /** Cardinalities for which all rows are known to be consistent. */
  #checked: Set<Cardinality> = new Set();

  /** Rows in any order. */
  constructor(rows: readonly FactVersion[]) {
    this.#rows = new OpenSet(rows);
  }

  /** In the order of their start. */
  get all(): readonly FactVersion[] {
    return [...this.#rows];
  }

  /**
   * The rows that a plan for these statements depends on, in order: the rows that overlap; with
   * several values per subject, only those with the stated objects.
   *
   * @throws MemoryError as `checkOpen` does
   */
  touched(touches: readonly Touch[], declaration: PredicateDeclaration): readonly FactVersion[] {
    this.#requireApart(declaration);
    const isSingle = declaration.cardinality === 'single-valued';
    const found = touches.map(
      ({ valid, object }) => this.#met(isSingle ? undefined : object)?.overlapping(valid) ?? [],
    );
    if (found.length === 1) return found[0]!;
    // In order overall, and each row once.
    return [...new OpenSet(found.flat())];
  }

  /** Applies a change that was planned on these rows. */
  change({ close, insert }: Pick<FactWrite, 'close' | 'insert'>): void {
    for (const key of close) {
      const row = this.#rows.delete(key);
      if (row !== undefined && this.#ofObjects !== undefined) takeFrom(this.#ofObjects, row);
    }
    for (const row of insert) {
      if (row.row_kind !== 'current') continue;
      this.#rows.add(row);
      if (this.#ofObjects !== undefined) addTo(this.#ofObjects, row);
      this.#checked = new Set([...this.#checked].filter((as) => as === row.cardinality));
    }
  }

  /** The rows with that object, or all rows; undefined if there are none. */
  #met(object: string | undefined): OpenSet<FactVersion> | undefined {
    if (object === undefined) return this.#rows;
    if (this.#ofObjects === undefined) {
      this.#ofObjects = new Map();
      for (const row of this.#rows) addTo(this.#ofObjects, row);
    }
    return this.#ofObjects.get(objectKey(object));
  }

  #requireApart(declaration: PredicateDeclaration): void {
    const { cardinality } = declaration;
    if (this.#checked.has(cardinality)) return;
    checkOpen(this.all.map(orderedRow), declaration);
    this.#checked.add(cardinality);
  }
}

function addTo(objects: Map<string, OpenSet<FactVersion>>, row: FactVersion): void {
  const key = objectKey(row.object);
  const rows = objects.get(key) ?? new OpenSet();
  objects.set(key, rows);
  rows.add(row);
}

/** An object without rows is removed. */
function takeFrom(objects: Map<string, OpenSet<FactVersion>>, row: FactVersion): void {
  const key = objectKey(row.object);
  const rows = objects.get(key)!;
  rows.delete(row);
  if (rows.size === 0) objects.delete(key);
}

/**
 * The row as a plan has it, without store-only columns. In canonical order. This halves the time
 * for the text of a witness.
 */
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
