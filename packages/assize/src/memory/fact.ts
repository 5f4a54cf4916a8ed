import { composed, type Instant, isInstant } from '#canon';
import { MemoryError } from './errors.ts';
import { OPEN_END, overlaps, type Period, storedPeriod } from './period.ts';
import type { Cardinality } from './predicate.ts';
import { compare, requireStrategy, type Strategy } from './strategy.ts';

/** The text of a write's provenance in a row. A carrier defines its meaning (`provenance/`). */
export type Provenance = string;

/**
 * The sum of the semiring, on texts. It must be commutative and associative. Its arguments are
 * texts of rows and assertions, and its own results.
 */
export type MergeProvenance = (a: Provenance, b: Provenance) => Provenance;

/** The product of the semiring with the trust in an answer, on the text of a chosen fact. */
export type TrustProvenance = (
  provenance: Provenance,
  answer: { readonly judge?: string; readonly policy?: string; readonly approver?: string },
) => Provenance;

export type RowKind = 'current' | 'audit';

/**
 * One version of a fact in a store: the twelve columns of the paper (TOKI §3.1, §C.1), and further
 * internal columns.
 */
export interface FactRow {
  /**
   * The primary key together with `system_time_start`. Never derived from an entry's id, because
   * that id covers it.
   */
  readonly fact_id: string;
  readonly subject: string;
  readonly predicate: string;
  /** In an audit row: the witness of the resolution, as JSON. */
  readonly object: string;
  readonly valid_from: Instant;
  readonly valid_to: Instant;
  readonly system_time_start: Instant;
  readonly system_time_end: Instant;
  readonly provenance_id: Provenance;
  readonly confidence: number;
  readonly resolution_strategy_id: Strategy;
  readonly row_kind: RowKind;

  /** The tenant. Facts of different spaces are never compared. */
  readonly space: string;
  /** The ledger entry that wrote this version; `THIS_ENTRY` inside that entry. */
  readonly entry_id: string;
  /** The position of that entry in the commit order. */
  readonly seq: number;
  /** Shared by the audit rows of one resolution. Null in current rows. */
  readonly resolution_id: string | null;
  /** The claim from which this version derives, through all cuts, widenings and rewrites. */
  readonly lineage: string;
  /**
   * The `seq` of that claim. Leftover and widened rows keep it, because they are not new
   * assertions.
   */
  readonly asserted_seq: number;
  /** The start of valid time that the claim asserted, regardless of later cuts. */
  readonly asserted_from: Instant;
  /**
   * The predicate's cardinality when this version was written. A store excludes overlaps of
   * single-valued rows only.
   */
  readonly cardinality: Cardinality;
}

/**
 * Stands for the entry's id inside the entry, because the entry cannot contain its own hash
 * (docs/decisions/017-memory.md).
 */
export const THIS_ENTRY = '@';

/** The unit of serialisation: facts of different partitions never conflict. */
export interface Partition {
  readonly space: string;
  readonly subject: string;
  readonly predicate: string;
}

export function validOf({
  valid_from,
  valid_to,
}: Pick<FactRow, 'valid_from' | 'valid_to'>): Period {
  return { from: valid_from, to: valid_to };
}

export function systemOf({ system_time_start, system_time_end }: FactRow): Period {
  return { from: system_time_start, to: system_time_end };
}

/** Whether the row is a current fact, and not a past one. */
export function isOpen({ row_kind, system_time_end }: FactRow): boolean {
  return row_kind === 'current' && system_time_end === OPEN_END;
}

/** Sorts by system time, then by valid time, oldest first. No two rows are equal in this order. */
export function byTime(a: FactRow, b: FactRow): number {
  return (
    compare(a.system_time_start, b.system_time_start) ||
    compare(a.valid_from, b.valid_from) ||
    compare(a.fact_id, b.fact_id)
  );
}

/**
 * The key that equal objects share: the text in Unicode's composed form (NFC). Precomposed and
 * combining accents look the same and are not a contradiction. Rows keep the original text. Marks
 * are sorted only in sequences of up to 100.
 */
export function objectKey(object: string): string {
  return composed(object);
}

/**
 * Whether two rows have the same subject and predicate, another object, and a common instant (TOKI
 * §2.1): nine of Allen's thirteen relations.
 * @throws MemoryError the errors of `checkFact`, for either row
 */
export function contradicts(a: FactRow, b: FactRow): boolean {
  checkFact(a);
  checkFact(b);
  return (
    a.space === b.space &&
    a.subject === b.subject &&
    a.predicate === b.predicate &&
    objectKey(a.object) !== objectKey(b.object) &&
    overlaps(validOf(a), validOf(b))
  );
}

/**
 * Refuses a row that a store cannot contain: types, and the single-row constraints of TOKI, Table
 * 12.
 * @throws MemoryError `bad_argument`, `bad_text`, `bad_confidence`, `unknown_strategy`,
 * `no_instant`, `empty_period`, `reversed_period`
 */
export function checkFact(row: FactRow): void {
  for (const name of COLUMNS) if (!Object.hasOwn(row, name)) throw badRow(name, 'is missing');
  if (Object.keys(row).length !== COLUMNS.length) {
    const unknown = Object.keys(row).find((name) => !COLUMNS.includes(name))!;
    throw badRow(unknown, 'is not known');
  }
  for (const name of TEXTS) requireText(row[name], name);
  requireConfidence(row.confidence);
  if (row.row_kind !== 'current' && row.row_kind !== 'audit')
    throw new MemoryError('bad_argument', 'The row kind is not valid. Use current or audit.');
  requireStrategy(row.resolution_strategy_id);
  storedPeriod(row.valid_from, row.valid_to);
  storedPeriod(row.system_time_start, row.system_time_end);
  if (!isInstant(row.system_time_start)) throw badRow('system_time_start', 'must be an instant');
  storedPeriod(row.asserted_from, OPEN_END);
  for (const name of ['seq', 'asserted_seq'] as const)
    if (!Number.isSafeInteger(row[name]) || row[name] < 0)
      throw badRow(name, 'must be a whole number from 0');
  if (row.resolution_id !== null) requireText(row.resolution_id, 'resolution_id');
  if (row.cardinality !== 'single-valued' && row.cardinality !== 'multi-valued')
    throw badRow('cardinality', 'must be single-valued or multi-valued');
}

/**
 * Refuses rows that a single store cannot contain: checks each row as `checkFact` does, and the
 * primary key. Rows from `checkedFacts` are not checked again.
 * @throws MemoryError `bad_argument`, and the errors of `checkFact`
 */
export function checkFacts(rows: readonly FactRow[]): void {
  if (relations.has(rows)) return;
  for (const row of rows) checkFact(row);
  requireKeysApart(rows);
}

/**
 * Returns the rows as a relation: frozen copies, checked once. Functions that read facts check
 * plain rows on each call and trust a relation. Use a relation for many queries of the same rows.
 * @throws MemoryError the errors of `checkFacts`
 */
export function checkedFacts(rows: readonly FactRow[]): readonly FactRow[] {
  if (relations.has(rows)) return rows;
  // The check reads the copies, so a row with changing getters is read only once.
  const copies = rows.map((row) => ({ ...row }));
  checkFacts(copies);
  return relationOf(copies);
}

/**
 * The relation without some rows and with new ones. Only the new rows are checked. @throws
 * MemoryError the errors of `checkFacts`
 */
export function exchanged(
  relation: readonly FactRow[],
  exchange: (row: FactRow) => FactRow,
  added: readonly FactRow[],
): readonly FactRow[] {
  const kept = relation.map((row) => {
    const next = exchange(row);
    if (next !== row) checkFact(next);
    return next;
  });
  const copies = added.map((row) => ({ ...row }));
  for (const row of copies) checkFact(row);
  const rows = [...kept, ...copies];
  requireKeysApart(rows);
  return relationOf(rows);
}

/** Frozen lists of frozen, checked rows. They cannot change. */
const relations = new WeakSet<readonly FactRow[]>();

function relationOf(rows: FactRow[]): readonly FactRow[] {
  for (const row of rows) Object.freeze(row);
  relations.add(Object.freeze(rows));
  return rows;
}

function requireKeysApart(rows: readonly FactRow[]): void {
  const keys = new Set<string>();
  for (const row of rows) {
    const key = keyText(row);
    if (keys.has(key)) {
      throw new MemoryError(
        'bad_argument',
        'Two versions of a fact start at the same system time. Give each version its own start.',
        {
          evidence: { fact_id: row.fact_id, system_time_start: row.system_time_start },
        },
      );
    }
    keys.add(key);
  }
}

/** The key of one version of a fact. */
export interface RowKey {
  readonly fact_id: string;
  readonly system_time_start: Instant;
}

export function keyText({ fact_id, system_time_start }: RowKey): string {
  return `${system_time_start} ${fact_id}`;
}

/**
 * Refuses a string that text columns and hashes cannot contain: empty, with an unpaired surrogate,
 * or with U+0000.
 * @throws MemoryError `bad_text`
 */
export function requireText(text: unknown, name: string): asserts text is string {
  if (typeof text === 'string' && text !== '' && text.isWellFormed() && !text.includes('\0'))
    return;
  throw new MemoryError(
    'bad_text',
    `The ${name} must be a non-empty string without U+0000 or half a surrogate pair.`,
    {
      evidence: { column: name },
    },
  );
}

/** @throws MemoryError `bad_confidence` */
export function requireConfidence(confidence: unknown): asserts confidence is number {
  if (typeof confidence === 'number' && confidence >= 0 && confidence <= 1) return;
  throw new MemoryError('bad_confidence', 'The confidence must be a number from 0 to 1.');
}

const TEXTS = [
  'fact_id',
  'subject',
  'predicate',
  'object',
  'provenance_id',
  'space',
  'entry_id',
  'lineage',
] as const satisfies readonly (keyof FactRow)[];

const COLUMNS: readonly string[] = [
  ...TEXTS,
  'valid_from',
  'valid_to',
  'system_time_start',
  'system_time_end',
  'confidence',
  'resolution_strategy_id',
  'row_kind',
  'seq',
  'resolution_id',
  'asserted_seq',
  'asserted_from',
  'cardinality',
] satisfies readonly (keyof FactRow)[];

function badRow(column: string, problem: string): MemoryError {
  return new MemoryError('bad_argument', `The fact row is not valid: ${column} ${problem}.`, {
    evidence: { column, problem },
  });
}
