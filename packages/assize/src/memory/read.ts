import { type Instant, readInstant, type Time } from '#canon';
import { type AllenRelation, allenRelation, requireRelation } from './allen.ts';
import { MemoryError } from './errors.ts';
import {
  byTime,
  checkedFacts,
  checkFacts,
  exchanged,
  type FactRow,
  keyText,
  objectKey,
  type Partition,
  type RowKey,
  type RowKind,
  systemOf,
  validOf,
} from './fact.ts';
import { type GivenPeriod, holds, OPEN_END, OPEN_START, readPeriod } from './period.ts';
import type { Plan } from './plan.ts';

/** A point of both times: the facts as of `system` that are valid at `valid`. */
export interface Point {
  /** An instant, or `OPEN_START`. */
  readonly valid: Instant;
  readonly system: Instant;
}

/** A point with times in any accepted form (`Time`), as a caller gives it. */
export interface GivenPoint {
  /** A time, or `OPEN_START`. */
  readonly valid: Time;
  readonly system: Time;
}

/** The rows to read: facts, audit rows, or both. */
export type RowSelection = RowKind | 'all';

/**
 * The rows with both periods around the point (TOKI §2.1), by system time. Default: current rows,
 * so audit rows never change other answers (TOKI Prop. 1).
 * @throws MemoryError `no_instant`, `bad_argument`, and the errors of `checkFacts`; ArgumentError
 * `bad_argument`
 */
export function asOf(
  rows: readonly FactRow[],
  point: GivenPoint,
  kind: RowSelection = 'current',
): FactRow[] {
  checkFacts(rows);
  const { valid, system } = readPoint(point);
  requireSelection(kind);
  return rows
    .filter(
      (row) => isOfKind(row, kind) && holds(validOf(row), valid) && holds(systemOf(row), system),
    )
    .sort(byTime);
}

/**
 * All versions, oldest first, filtered by space, subject and predicate.
 * @throws MemoryError `bad_argument`, and the errors of `checkFacts`
 */
export function history(
  rows: readonly FactRow[],
  of: Partial<Partition> = {},
  kind: RowSelection = 'current',
): FactRow[] {
  checkFacts(rows);
  requireSelection(kind);
  const { space, subject, predicate } = of;
  return rows
    .filter(
      (row) =>
        isOfKind(row, kind) &&
        (space === undefined || row.space === space) &&
        (subject === undefined || row.subject === subject) &&
        (predicate === undefined || row.predicate === predicate),
    )
    .sort(byTime);
}

/** The difference between the facts at two points. */
export interface Difference {
  readonly added: readonly FactRow[];
  readonly removed: readonly FactRow[];
  /** Facts with another version: cut, widened, or with another confidence. */
  readonly revised: readonly { readonly from: FactRow; readonly to: FactRow }[];
}

/**
 * The facts at `to` that did not hold at `from`, and the reverse.
 * @throws MemoryError the errors of `asOf`
 */
export function diff(rows: readonly FactRow[], from: GivenPoint, to: GivenPoint): Difference {
  const before = new Map(asOf(rows, from).map((row) => [saidBy(row), row]));
  const after = new Map(asOf(rows, to).map((row) => [saidBy(row), row]));
  return {
    added: [...after].filter(([said]) => !before.has(said)).map(([, row]) => row),
    removed: [...before].filter(([said]) => !after.has(said)).map(([, row]) => row),
    revised: [...before].flatMap(([said, row]) => {
      const now = after.get(said);
      return now === undefined || keyText(now) === keyText(row) ? [] : [{ from: row, to: now }];
    }),
  };
}

/**
 * The rows with a valid time in one of the relations to the period, in input order (TOKI Theorem
 * 12(3)).
 * @throws MemoryError `bad_argument`, `no_instant`, `empty_period`, `reversed_period`, and the
 * errors of `checkFacts`
 */
export function selectByRelation(
  rows: readonly FactRow[],
  relations: readonly AllenRelation[],
  valid: GivenPeriod,
): FactRow[] {
  checkFacts(rows);
  for (const relation of relations) requireRelation(relation);
  const to = readPeriod(valid);
  return rows.filter((row) => relations.includes(allenRelation(validOf(row), to)));
}

/**
 * The rows after a plan, as a relation (`checkedFacts`). Applying all plans in commit order yields
 * the projection.
 * @throws MemoryError `not_open` for a row to close that is missing or closed, `bad_argument`; the
 * errors of `checkFacts`
 */
export function applyPlan(rows: readonly FactRow[], plan: Plan): readonly FactRow[] {
  const before = checkedFacts(rows);
  const open = new Map(before.filter(isUnended).map((row) => [keyText(row), row]));
  const closing = new Set(plan.close.map((key) => open.get(keyText(key)) ?? notOpen(key)));
  const closed = (row: FactRow): FactRow =>
    closing.has(row) ? { ...row, system_time_end: plan.systemTime } : row;
  return exchanged(before, closed, plan.insert);
}

function isUnended({ system_time_end }: FactRow): boolean {
  return system_time_end === OPEN_END;
}

function saidBy({ space, subject, predicate, object }: FactRow): string {
  return JSON.stringify([space, subject, predicate, objectKey(object)]);
}

function isOfKind({ row_kind }: FactRow, kind: RowSelection): boolean {
  return kind === 'all' || row_kind === kind;
}

function readPoint(point: GivenPoint): Point {
  const valid = point.valid === OPEN_START ? OPEN_START : readInstant(point.valid);
  const system = readInstant(point.system);
  if (valid === undefined) throw noInstant('valid');
  if (system === undefined) throw noInstant('system');
  return { valid, system };
}

function noInstant(member: string): MemoryError {
  return new MemoryError(
    'no_instant',
    `The ${member} time must be an instant such as 2026-03-23T09:00:00.000000Z.`,
    {
      evidence: { member },
    },
  );
}

function requireSelection(kind: RowSelection): void {
  if (kind === 'current' || kind === 'audit' || kind === 'all') return;
  throw new MemoryError('bad_argument', 'The row kind is not valid. Use current, audit or all.');
}

/** @throws MemoryError */
function notOpen({ fact_id, system_time_start }: RowKey): never {
  throw new MemoryError(
    'not_open',
    'The row to close is not open. Read the partition again and make a new plan.',
    {
      evidence: { fact_id, system_time_start },
    },
  );
}
