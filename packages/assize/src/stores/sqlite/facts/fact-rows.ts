import type { SQLInputValue } from 'node:sqlite';
import type { FactQuery, FactVersion, Hash, PartitionName } from '#ledger';
import { OPEN_END } from '#memory';

/** The rows `f` in the order of their partitions and end times. The end time is `e`. */
export const ROWS = 'fact_time AS e CROSS JOIN fact AS f ON f.n = e.n';

/** The length in characters above which `fact_object` stores an object, next to its row. */
export const LONG_OBJECT = 256;

/** The value of `fact_time.id_start` for a fact id; an SQL expression. */
export function idStart(factId: string): string {
  return `substr(${factId}, 1, 8)`;
}

/** The conditions of a query on one of `ROWS` of a partition `p`. All conditions must hold. */
export function restrictions({
  space,
  branch,
  subject,
  predicate,
  kind,
  valid,
  system,
  lineage,
}: FactQuery): {
  readonly where: string[];
  readonly values: SQLInputValue[];
} {
  const where: string[] = [];
  const values: SQLInputValue[] = [];
  const need = (text: string, ...given: SQLInputValue[]): void => {
    where.push(text);
    values.push(...given);
  };
  need('p.space = ? AND p.branch = ?', space, branch ?? '');
  if (subject !== undefined) need('p.subject = ?', subject);
  if (predicate !== undefined) need('p.predicate = ?', predicate);
  if (kind !== 'all') need('e.audit = ?', kind === 'audit' ? 1 : 0);
  if (valid !== undefined) need('e.valid_from <= ? AND f.valid_to > ?', valid, valid);
  if (system === 'now') need(`e.system_end = '${OPEN_END}'`);
  else if (system !== undefined) need('e.system_end > ? AND f.system_start <= ?', system, system);
  if (lineage !== undefined) need('f.lineage = ?', lineage);
  return { where, values };
}

/** The object of a row `f`, from either table. */
export const OBJECT =
  'CASE WHEN f.long IS NULL THEN f.object ELSE (SELECT o.text FROM fact_object AS o WHERE o.id = f.long) END';

/** The columns of a row `f` with the given end time. */
export const rowThatEnds = (end: string): string =>
  `f.fact_id, ${OBJECT}, lower(hex(f.content)), f.content_bytes, f.valid_from, f.valid_to, f.system_start, ${end},
  f.provenance, f.confidence, f.strategy, f.audit, f.resolution, f.lineage, f.asserted_seq, f.asserted_from,
  lower(hex(f.entry)), f.seq, f.single`;

export const ROW: string = rowThatEnds('e.system_end');

/** The columns of a STRICT table have the types that the schema declares. */
export type RowColumns = [
  fact_id: string,
  object: string,
  hash: Hash,
  bytes: number,
  valid_from: string,
  valid_to: string,
  system_time_start: string,
  system_time_end: string,
  provenance_id: string,
  confidence: number,
  strategy: string,
  audit: number,
  resolution_id: string | null,
  lineage: string,
  asserted_seq: number,
  asserted_from: string,
  entry_id: Hash,
  seq: number,
  single: number,
];

export const ROW_COLUMNS = 19;

export function versionOf(
  row: RowColumns,
  { space, subject, predicate, branch }: PartitionName,
): FactVersion {
  const version: FactVersion = {
    fact_id: row[0],
    space,
    subject,
    predicate,
    object: row[1],
    content: { hash: row[2], bytes: row[3] },
    valid_from: row[4],
    valid_to: row[5],
    system_time_start: row[6],
    system_time_end: row[7],
    provenance_id: row[8],
    confidence: row[9],
    resolution_strategy_id: row[10],
    row_kind: row[11] === 0 ? 'current' : 'audit',
    resolution_id: row[12],
    lineage: row[13],
    asserted_seq: row[14],
    asserted_from: row[15],
    entry_id: row[16],
    seq: row[17],
    cardinality: row[18] === 1 ? 'single-valued' : 'multi-valued',
  };
  // A spread in the middle of a literal makes the engine slow for the fields after it.
  return branch === undefined ? version : { ...version, branch };
}
