import { isInstant } from '#canon';
import { type BeliefRow, type Inheritance, OPEN_END, OPEN_START } from './fact-rows.ts';
import { isHash } from './is-hash.ts';
import { type Check, isSeq, listOf, members, oneOf } from './shape-checks.ts';

/** A string that a store can keep in a text column. PostgreSQL text cannot contain NUL. */
const isColumn: Check = (value) =>
  typeof value === 'string' && value !== '' && value.isWellFormed() && !value.includes('\0');
const isTime: Check = (value) => typeof value === 'string' && isInstant(value);
const isStart: Check = (value) => value === OPEN_START || isTime(value);
const isEnd: Check = (value) => value === OPEN_END || isTime(value);
const isConfidence: Check = (value) => typeof value === 'number' && value >= 0 && value <= 1;
const isCountFromOne: Check = (value) => isSeq(value) && (value as number) > 0;
export const isSaltedReference: Check = members({
  $blob: isHash,
  bytes: isSeq,
  salted: (value) => value === true,
});

const isCardinality: Check = oneOf('single-valued', 'multi-valued');
const isKey = members({ fact_id: isColumn, system_time_start: isTime });

const rowMembers: Record<string, Check> = {
  fact_id: isColumn,
  object: isSaltedReference,
  valid_from: isStart,
  valid_to: isEnd,
  provenance_id: isColumn,
  confidence: isConfidence,
  resolution_strategy_id: oneOf('lww', 'lww-valid', 'evi', 'await', 'rule'),
  row_kind: oneOf('current', 'audit'),
  resolution_id: (value) => value === null || isColumn(value),
  lineage: isColumn,
  asserted_seq: isCountFromOne,
  asserted_from: isStart,
};
const hasRowMembers = members(rowMembers);
const hasInheritedMembers = members({
  ...rowMembers,
  row_kind: oneOf('current'),
  system_time_start: isTime,
  entry_id: isHash,
  seq: isCountFromOne,
  cardinality: isCardinality,
});

const isRow: Check = (value) => {
  if (!hasRowMembers(value)) return false;
  return isFitting(value as BeliefRow);
};

const isInheritedRow: Check = (value) => {
  if (!hasInheritedMembers(value)) return false;
  const row = value as Inheritance['rows'][number];
  return isFitting(row) && row.asserted_seq <= row.seq;
};

function isFitting({ valid_from, valid_to, row_kind, resolution_id }: BeliefRow): boolean {
  return valid_from < valid_to && (resolution_id === null) === (row_kind === 'current');
}

const isInheritance: Check = members({ until: isTime, rows: listOf(isInheritedRow) });

const hasChangeMembers = members(
  {
    partition: isSaltedReference,
    version: isCountFromOne,
    cardinality: isCardinality,
    system_time: isTime,
    close: listOf(isKey),
    insert: listOf(isRow),
  },
  { merged: listOf(isColumn), inherit: isInheritance },
);

/** Whether the value is a complete change of one partition, with no other fields. */
export const isBeliefChange: Check = (value) => {
  if (!hasChangeMembers(value)) return false;
  const { version, insert } = value as { version: number; insert: readonly BeliefRow[] };
  return insert.every(({ asserted_seq }) => asserted_seq <= version);
};

/** Whether a value has the form of a partition name, as its reference resolves to it. */
export const isPartitionName: Check = members(
  { space: isColumn, subject: isColumn, predicate: isColumn },
  { branch: isColumn },
);

/** The same check for the name of a branch's partition that inherits facts. */
export const isBranchPartitionName: Check = (value) =>
  isPartitionName(value) && Object.hasOwn(value as object, 'branch');

/** Whether a value has the form of a fact's object, as its reference resolves to it. */
export const isFactObject: Check = isColumn;
