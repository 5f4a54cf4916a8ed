import { isInstant } from '#canon';
import { type Check, isSeq, listOf, members, oneOf } from './checks.ts';
import { type BeliefRow, OPEN_END, OPEN_START } from './facts.ts';
import { isHash } from './is-hash.ts';

/** A text of a column: stores have them in text columns, and PostgreSQL has no NUL there. */
const isColumn: Check = (value) =>
  typeof value === 'string' && value !== '' && value.isWellFormed() && !value.includes('\0');
const isTime: Check = (value) => typeof value === 'string' && isInstant(value);
const isStart: Check = (value) => value === OPEN_START || isTime(value);
const isEnd: Check = (value) => value === OPEN_END || isTime(value);
const isConfidence: Check = (value) => typeof value === 'number' && value >= 0 && value <= 1;
const isCountFromOne: Check = (value) => isSeq(value) && (value as number) > 0;
export const isSaltedReference: Check = members({ $blob: isHash, bytes: isSeq, salted: (value) => value === true });

const isKey = members({ fact_id: isColumn, system_time_start: isTime });

const hasRowMembers = members({
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
});

const isRow: Check = (value) => {
  if (!hasRowMembers(value)) return false;
  const { valid_from, valid_to, row_kind, resolution_id } = value as BeliefRow;
  return valid_from < valid_to && (resolution_id === null) === (row_kind === 'current');
};

const hasChangeMembers = members(
  {
    partition: isSaltedReference,
    version: isCountFromOne,
    cardinality: oneOf('single-valued', 'multi-valued'),
    system_time: isTime,
    close: listOf(isKey),
    insert: listOf(isRow),
  },
  { merged: listOf(isColumn) },
);

/** Whether it is a change of one partition, whole and with nothing besides. */
export const isBeliefChange: Check = (value) => {
  if (!hasChangeMembers(value)) return false;
  const { version, insert } = value as { version: number; insert: readonly BeliefRow[] };
  return insert.every(({ asserted_seq }) => asserted_seq <= version);
};

/** Whether a value is what the reference to a partition stands for. */
export const isPartitionName: Check = members({ space: isColumn, subject: isColumn, predicate: isColumn });

/** Whether a value is what the reference to an object stands for. */
export const isFactObject: Check = isColumn;
