import type {
  ContentRef,
  FactKey,
  FactVersion,
  FactWrite,
  PartitionName,
} from 'assize/internal/ledger';
import { type FactRow, OPEN_END, type Plan } from 'assize/internal/memory';
import { blobOf } from './store-rows.ts';

// Rows of facts for tests of stores. A store reads their times and compares their names.

export const ALICE: PartitionName = Object.freeze({
  space: 'clinic',
  subject: 'alice',
  predicate: 'medication',
});

/** The n-th day of a year, as an instant. */
export function day(n: number): string {
  return new Date(Date.UTC(2026, 0, n)).toISOString().replace('Z', '000Z');
}

/** The reference to a text. */
export function contentOf(text: string): ContentRef {
  return { hash: blobOf(text).hash, bytes: Buffer.byteLength(text) };
}

/** The references to the names of a partition. */
export function namesOf({ space, subject, predicate, branch }: PartitionName): ContentRef {
  const branches = branch === undefined ? [] : [branch];
  return contentOf(JSON.stringify([space, subject, predicate, ...branches]));
}

export interface AssertedRow extends Partial<Omit<FactVersion, keyof PartitionName | 'content'>> {
  readonly fact_id: string;
}

/**
 * A manual change. Its rows are valid from the first day of the year without an end, unless they
 * set other times. `at` is the day of its system time.
 */
export function changeOf(
  partition: PartitionName,
  version: number,
  at: number,
  said: readonly AssertedRow[],
  close: readonly FactKey[] = [],
): FactWrite {
  return {
    partition,
    names: namesOf(partition),
    version,
    system_time: day(at),
    close,
    insert: said.map((row) => {
      const object = row.object ?? `says ${row.fact_id}`;
      return {
        valid_from: day(1),
        valid_to: OPEN_END,
        system_time_start: day(at),
        system_time_end: OPEN_END,
        provenance_id: 'w:@0',
        confidence: 1,
        resolution_strategy_id: 'lww',
        row_kind: 'current',
        resolution_id: null,
        lineage: row.fact_id,
        asserted_seq: version,
        asserted_from: day(1),
        entry_id: blobOf('entry').hash,
        seq: version,
        cardinality: 'single-valued',
        ...row,
        ...partition,
        object,
        content: contentOf(object),
      };
    }),
  };
}

export function keyOfRow({ fact_id, system_time_start }: FactKey): FactKey {
  return { fact_id, system_time_start };
}

/** The changes of a plan, in the partition with that `version`. */
export function changeOfPlan(
  partition: PartitionName,
  names: ContentRef,
  version: number,
  { systemTime, close, insert }: Plan,
  entryId: string,
): FactWrite {
  return {
    partition,
    names,
    version,
    system_time: systemTime,
    close,
    insert: insert.map((row) => ({
      ...row,
      ...partition,
      entry_id: entryId,
      content: contentOf(row.object),
    })),
  };
}

/** A version of a fact in the form that the planners of `assize/memory` accept. */
export function rowOf({ content: _, branch: __, ...row }: FactVersion): FactRow {
  return row as FactRow;
}
