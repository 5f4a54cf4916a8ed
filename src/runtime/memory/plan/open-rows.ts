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

/** Where something is said, and of which object; without one, of all that there are. */
export interface Touch {
  readonly valid: Period;
  readonly object?: string | undefined;
}

/**
 * What is open of a partition. A history may be long, and what is said meets little of it: a write looks at what it meets alone. Whether all of
 * it may stand together is looked at once, since what is planned on it may again.
 */
export class OpenRows {
  readonly #rows: OpenSet<FactVersion>;
  /** By their objects' keys; there from when it is first asked for, which nobody does where there is one value at a time. */
  #ofObjects: Map<string, OpenSet<FactVersion>> | undefined;
  /** As which all of it is known to stand together. */
  #checked: Set<Cardinality> = new Set();

  /** Rows in any order. */
  constructor(rows: readonly FactVersion[]) {
    this.#rows = new OpenSet(rows);
  }

  /** In the order of its beginning. */
  get all(): readonly FactVersion[] {
    return [...this.#rows];
  }

  /**
   * Those that a plan for what is said there depends on, in order: what overlaps it, and where there are several values only what has an object
   * that it names.
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
    // In order as a whole, and each once.
    return [...new OpenSet(found.flat())];
  }

  /** After a change that was planned on it. */
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

  /** Rows that somebody has who speaks of that object, or of all; undefined where there are none. */
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

/** Nothing is kept of an object that has no row any more. */
function takeFrom(objects: Map<string, OpenSet<FactVersion>>, row: FactVersion): void {
  const key = objectKey(row.object);
  const rows = objects.get(key)!;
  rows.delete(row);
  if (rows.size === 0) objects.delete(key);
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
