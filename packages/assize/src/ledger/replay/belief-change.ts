import type { Json } from '#base';
import { canonicalize } from '#canon';
import { isBranchPartitionName, isFactObject, isPartitionName } from '../entry/belief-shape.ts';
import type { Entry, Instant } from '../entry/entry.ts';
import {
  type BeliefChange,
  type BeliefRow,
  type ContentRef,
  type FactCardinality,
  type FactColumns,
  type FactKey,
  type FactVersion,
  type FactWrite,
  type Inheritance,
  OPEN_END,
  type PartitionName,
  type SaltedRef,
} from '../entry/fact-rows.ts';
import type { Erased, Hash } from '../entry/hash.ts';
import { placedProvenance } from '../entry/placed-provenance.ts';
import { faultAt, type ReadValue, type ValueReader } from './values.ts';

/** A row of a plan: a fact row of memory, before the id of its entry is known. */
export interface PlannedFact extends FactColumns {
  readonly system_time_start: Instant;
  readonly seq: number;
  readonly cardinality: FactCardinality;
}

/** The planned change of a partition's rows at one system time. */
export interface PlannedChange {
  readonly systemTime: Instant;
  readonly close: readonly FactKey[];
  readonly insert: readonly PlannedFact[];
  readonly merged?: readonly string[];
}

/**
 * Converts a plan to the form of an entry. `objects` refer to the texts of the rows, in row order.
 * `factWrites` of that entry restores the plan.
 *
 * @throws ArgumentError `bad_argument`, also for a row without an object, or with another version,
 * system time or cardinality
 */
export function beliefChange(
  plan: PlannedChange,
  of: Pick<BeliefChange, 'partition' | 'version' | 'cardinality' | 'inherit'> & {
    readonly objects: readonly SaltedRef[];
  },
): BeliefChange {
  const { systemTime, close, insert, merged } = plan;
  const { partition, version, cardinality, objects, inherit } = of;
  // In canonical order, as columns are. This halves the time to write the entry's text.
  return {
    cardinality,
    close: close.map(({ fact_id, system_time_start }) => ({ fact_id, system_time_start })),
    ...(inherit !== undefined && { inherit }),
    insert: insert.map((row, i) => columnsOf(row, objects[i] as SaltedRef)),
    ...(merged !== undefined && { merged }),
    partition,
    system_time: systemTime,
    version,
  };
}

/** The inherited facts of a branch's partition in the form of an entry, from rows of a store. */
export function inheritanceOf(until: Instant, rows: readonly FactVersion[]): Inheritance {
  return {
    until,
    rows: rows.map((row) => {
      const { system_time_start, entry_id, seq, cardinality, content } = row;
      const object: SaltedRef = { $blob: content.hash, bytes: content.bytes, salted: true };
      return {
        ...columnsOf(row, object),
        row_kind: 'current',
        system_time_start,
        entry_id,
        seq,
        cardinality,
      };
    }),
  };
}

/**
 * The changes of facts in an entry, in the form of a store. Returns an empty list for an entry that
 * is not a commit. Provenance names the entry's own writes by entry id, so it reads the same
 * outside the entry. An erased text, or an erased name of a partition, becomes the canonical text
 * of `{"$erased": hash}`.
 *
 * @throws LedgerFault if a blob is missing or malformed
 */
export async function factWrites(
  entry: Entry,
  values: Pick<ValueReader, 'read'>,
): Promise<FactWrite[]> {
  if (entry.payload.kind !== 'commit') return [];
  return Promise.all(entry.payload.delta.beliefs.map((change) => factWrite(entry, change, values)));
}

async function factWrite(
  entry: Entry,
  change: BeliefChange,
  values: Pick<ValueReader, 'read'>,
): Promise<FactWrite> {
  const { partition: names, version, system_time, close, inherit } = change;
  const partition = partitionOf(entry, change, await values.read<Json>(entry, names));
  const objects = await Promise.all(
    change.insert.map(({ object }) => values.read<Json>(entry, object)),
  );
  const insert = change.insert.map(
    (row, i): FactVersion => ({
      ...partition,
      ...columnsOf(row, textOf(entry, row, objects[i] as ReadValue)),
      content: contentOf(row.object),
      provenance_id: placedProvenance(row.provenance_id, entry.id),
      system_time_start: system_time,
      system_time_end: OPEN_END,
      entry_id: entry.id,
      seq: version,
      cardinality: change.cardinality,
    }),
  );
  const write = { partition, names: contentOf(names), version, system_time, close, insert };
  if (inherit === undefined) return write;
  const inherited = await Promise.all(
    inherit.rows.map(({ object }) => values.read<Json>(entry, object)),
  );
  const rows = inherit.rows.map(
    (row, i): FactVersion => ({
      ...partition,
      ...columnsOf(row, textOf(entry, row, inherited[i] as ReadValue)),
      content: contentOf(row.object),
      system_time_start: row.system_time_start,
      system_time_end: OPEN_END,
      entry_id: row.entry_id,
      seq: row.seq,
      cardinality: row.cardinality,
    }),
  );
  return { ...write, inherit: { until: inherit.until, rows } };
}

function columnsOf<Said>(row: FactColumns, object: Said): FactColumns & { readonly object: Said } {
  return {
    asserted_from: row.asserted_from,
    asserted_seq: row.asserted_seq,
    confidence: row.confidence,
    fact_id: row.fact_id,
    lineage: row.lineage,
    object,
    provenance_id: row.provenance_id,
    resolution_id: row.resolution_id,
    resolution_strategy_id: row.resolution_strategy_id,
    row_kind: row.row_kind,
    valid_from: row.valid_from,
    valid_to: row.valid_to,
  };
}

function partitionOf(
  entry: Entry,
  { partition: { $blob: hash }, inherit }: Pick<BeliefChange, 'partition' | 'inherit'>,
  held: ReadValue,
): PartitionName {
  if (!('value' in held)) {
    const gone = erasedText(held);
    return { space: gone, subject: gone, predicate: gone };
  }
  if (!isPartitionName(held.value))
    throw faultAt(entry, 'malformed', `the blob ${hash} is not the name of a partition`);
  if (inherit !== undefined && !isBranchPartitionName(held.value))
    throw faultAt(
      entry,
      'malformed',
      `the blob ${hash} is not the name of a partition of a branch; only a branch inherits`,
    );
  const { space, subject, predicate, branch } = held.value as unknown as PartitionName;
  return { space, subject, predicate, ...(branch !== undefined && { branch }) };
}

function textOf(entry: Entry, { object: { $blob: hash } }: BeliefRow, held: ReadValue): string {
  if (!('value' in held)) return erasedText(held);
  if (!isFactObject(held.value))
    throw faultAt(entry, 'malformed', `the blob ${hash} is not the object of a fact`);
  return held.value as string;
}

function erasedText({ $erased }: Erased): string {
  return canonicalize({ $erased });
}

function contentOf({ $blob, bytes }: { readonly $blob: Hash; readonly bytes: number }): ContentRef {
  return { hash: $blob, bytes };
}
