import { form, requireForm } from '#base';
import { type Instant, isInstant } from '#canon';
import { MemoryError } from './errors.ts';
import { normalForm } from './normal-form.ts';
import { OPEN_END, overlaps, type Period, period } from './period.ts';
import type { Cardinality } from './predicate.ts';
import { compare, requireStrategy, type Strategy } from './strategy.ts';

/** Where a write's provenance is kept in a row; what it means is a carrier's business (`provenance/`). */
export type Provenance = string;

/**
 * The semiring's sum, on texts. It must be commutative and associative; the texts that it is given are those of rows and assertions, and
 * what it gave before.
 */
export type MergeProvenance = (a: Provenance, b: Provenance) => Provenance;

export type RowKind = 'current' | 'audit';

/** One version of a fact, as stores keep it: the twelve columns of the seed (§3.1, §C.1), and those that nobody asks for. */
export interface FactRow {
  /** With `system_time_start` the primary key. Never made of an entry's id, which covers it. */
  readonly fact_id: string;
  readonly subject: string;
  readonly predicate: string;
  /** In an audit row the witness of the resolution, as JSON. */
  readonly object: string;
  readonly valid_from: Instant;
  readonly valid_to: Instant;
  readonly system_time_start: Instant;
  readonly system_time_end: Instant;
  readonly provenance_id: Provenance;
  readonly confidence: number;
  readonly resolution_strategy_id: Strategy;
  readonly row_kind: RowKind;

  /** What keeps tenants apart: nothing is ever compared across it. */
  readonly space: string;
  /** The ledger entry that wrote this version; `THIS_ENTRY` inside of that entry. */
  readonly entry_id: string;
  /** The place of that entry in the true order of commits. */
  readonly seq: number;
  /** Shared by the audit rows of one resolution; null in current rows. */
  readonly resolution_id: string | null;
  /** The claim from which this version descends, through all that was cut, widened and written anew. */
  readonly lineage: string;
  /** The `seq` of that claim. What is only left over or widened keeps it: it was not said again. */
  readonly asserted_seq: number;
  /** Since when that claim said that it is valid, whatever was cut off since. */
  readonly asserted_from: Instant;
  /** Of the predicate when this version was written: a store's exclusion of overlaps is about single-valued rows. */
  readonly cardinality: Cardinality;
}

/** In place of the id of an entry, inside of that entry: an id can't stand in what it hashes (decisions §6.1). */
export const THIS_ENTRY = '@';

/** What is serialised: facts of different partitions never meet. */
export interface Partition {
  readonly space: string;
  readonly subject: string;
  readonly predicate: string;
}

export function validOf({ valid_from, valid_to }: Pick<FactRow, 'valid_from' | 'valid_to'>): Period {
  return { from: valid_from, to: valid_to };
}

export function systemOf({ system_time_start, system_time_end }: FactRow): Period {
  return { from: system_time_start, to: system_time_end };
}

/** Whether this is what is believed now, and not what once was. */
export function isOpen({ row_kind, system_time_end }: FactRow): boolean {
  return row_kind === 'current' && system_time_end === OPEN_END;
}

/** By what is oldest in system time, then in valid time: an order in which no two rows are equal. */
export function byTime(a: FactRow, b: FactRow): number {
  return (
    compare(a.system_time_start, b.system_time_start) ||
    compare(a.valid_from, b.valid_from) ||
    compare(a.fact_id, b.fact_id)
  );
}

/** Of texts that have none of these each is composed: to look takes less time than to compose it. */
const BEYOND_LATIN = /[\u0300-\uffff]/;

/**
 * What objects have in common that say the same: the text in Unicode's composed form (NFC). A letter that is written with its accent and one
 * that is put together of both look the same, and are no contradiction. Rows keep what was said, letter by letter. Marks are put in their
 * order where no more than 100 follow each other.
 * @throws ArgumentError `bad_argument`
 */
export function objectKey(object: string): string {
  requireForm(form.text, object, 'object');
  return BEYOND_LATIN.test(object) ? normalForm(object, 'NFC') : object;
}

/**
 * The same subject and predicate with another object, at a common instant (seed §2.1): nine of Allen's thirteen relations.
 * @throws MemoryError as `checkFact` does, of either
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
 * Refuses a row that could not stand in a store: the constraints of the seed's Table 12 that are about one row, and types.
 * @throws MemoryError `bad_row`, `bad_text`, `bad_confidence`, `unknown_row_kind`, `unknown_strategy`, `no_instant`, `empty_period`,
 * `reversed_period`; ArgumentError `bad_argument`
 */
export function checkFact(row: FactRow): void {
  requireForm(form.object, row, 'row');
  for (const name of COLUMNS) if (!Object.hasOwn(row, name)) throw badRow(name, 'is missing');
  if (Object.keys(row).length !== COLUMNS.length) {
    const unknown = Object.keys(row).find((name) => !COLUMNS.includes(name))!;
    throw badRow(unknown, 'is not known');
  }
  for (const name of TEXTS) requireText(row[name], name);
  requireConfidence(row.confidence);
  if (row.row_kind !== 'current' && row.row_kind !== 'audit')
    throw new MemoryError('unknown_row_kind', 'A row is current or audit.');
  requireStrategy(row.resolution_strategy_id);
  period(row.valid_from, row.valid_to);
  period(row.system_time_start, row.system_time_end);
  if (!isInstant(row.system_time_start)) throw badRow('system_time_start', 'must be an instant');
  period(row.asserted_from, OPEN_END);
  for (const name of ['seq', 'asserted_seq'] as const)
    if (!Number.isSafeInteger(row[name]) || row[name] < 0) throw badRow(name, 'must be a whole number from 0');
  if (row.resolution_id !== null) requireText(row.resolution_id, 'resolution_id');
  if (row.cardinality !== 'single-valued' && row.cardinality !== 'multi-valued')
    throw badRow('cardinality', 'must be single-valued or multi-valued');
}

/**
 * Refuses rows that could not stand in one store: each as `checkFact` does, and the primary key. What `checkedFacts` gave is not looked at
 * again.
 * @throws MemoryError `duplicate_key`, and as `checkFact` does
 */
export function checkFacts(rows: readonly FactRow[]): void {
  if (relations.has(rows)) return;
  requireForm(form.list(form.object), rows, 'rows');
  for (const row of rows) checkFact(row);
  requireKeysApart(rows);
}

/**
 * The rows as a relation: copies, frozen, that were checked once. Whatever reads facts takes rows as they come and checks each of them each
 * time; a relation it takes at its word. For who asks many things of the same rows.
 * @throws MemoryError as `checkFacts` does
 */
export function checkedFacts(rows: readonly FactRow[]): readonly FactRow[] {
  if (relations.has(rows)) return rows;
  requireForm(form.list(form.object), rows, 'rows');
  // The copies are what is checked: a row that answers differently each time is not read twice.
  const copies = rows.map((row) => ({ ...row }));
  checkFacts(copies);
  return relationOf(copies);
}

/** The relation without some rows and with others, of which only these are checked. @throws MemoryError as `checkFacts` does */
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

/** Frozen lists of frozen rows that were checked: nothing can become of them. */
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
      throw new MemoryError('duplicate_key', 'No fact has two versions that begin at the same system time.', {
        evidence: { fact_id: row.fact_id, system_time_start: row.system_time_start },
      });
    }
    keys.add(key);
  }
}

/** What names one version of a fact. */
export interface RowKey {
  readonly fact_id: string;
  readonly system_time_start: Instant;
}

export function keyText({ fact_id, system_time_start }: RowKey): string {
  return `${system_time_start} ${fact_id}`;
}

/**
 * Texts of columns go into text columns of every store, and into hashes: not empty, no half of a surrogate pair, no U+0000.
 * @throws MemoryError `bad_text`
 */
export function requireText(text: unknown, name: string, called: string = name): asserts text is string {
  if (typeof text === 'string' && text !== '' && text.isWellFormed() && !text.includes('\0')) return;
  throw new MemoryError(
    'bad_text',
    `The ${called} must be a text that is not empty, without U+0000 or half a surrogate pair.`,
    { evidence: { column: name } },
  );
}

/** @throws MemoryError `bad_confidence` */
export function requireConfidence(confidence: unknown): asserts confidence is number {
  if (typeof confidence === 'number' && confidence >= 0 && confidence <= 1) return;
  throw new MemoryError('bad_confidence', 'A confidence is a number from 0 to 1.');
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
  return new MemoryError('bad_row', `Not a row of facts: ${column} ${problem}.`, { evidence: { column, problem } });
}
