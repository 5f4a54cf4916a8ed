import { type Instant, isInstant, readInstant, type Time } from '#canon';
import { OPEN_END, OPEN_START } from '#ledger';
import { MemoryError } from './errors.ts';

export { OPEN_END, OPEN_START } from '#ledger';

/** A closed-open period: includes `from` and excludes `to` (SQL:2011; TOKI §2.1). */
export interface Period {
  /** An instant, or `OPEN_START`. */
  readonly from: Instant;
  /** An instant, or `OPEN_END`. */
  readonly to: Instant;
}

/** A period with times in any accepted form (`Time`), as a caller gives it. */
export interface GivenPeriod {
  /** A time, or `OPEN_START`. */
  readonly from: Time;
  /** A time, or `OPEN_END`. */
  readonly to: Time;
}

/**
 * The period from one time to before the other, each in any accepted form (`Time`).
 * @throws MemoryError `no_instant`, `empty_period`, `reversed_period`
 */
export function period(begin: Time, end: Time): Period {
  const from = begin === OPEN_START ? OPEN_START : readInstant(begin);
  const to = end === OPEN_END ? OPEN_END : readInstant(end);
  if (from === undefined) throw noInstant('begin', 'OPEN_START');
  if (to === undefined) throw noInstant('end', 'OPEN_END');
  return inOrder(from, to);
}

/**
 * Same, for instants in the form of the ledger only.
 * @throws the errors of `period`
 */
export function storedPeriod(from: Instant, to: Instant): Period {
  if (from !== OPEN_START && !isInstant(from)) throw noInstant('begin', 'OPEN_START');
  if (to !== OPEN_END && !isInstant(to)) throw noInstant('end', 'OPEN_END');
  return inOrder(from, to);
}

function inOrder(from: Instant, to: Instant): Period {
  if (from === to) {
    throw new MemoryError(
      'empty_period',
      'The period ends at its start. Give an end after the start.',
      {
        evidence: { from, to },
      },
    );
  }
  if (from > to) {
    throw new MemoryError(
      'reversed_period',
      'The period ends before its start. Exchange the two instants.',
      {
        evidence: { from, to },
      },
    );
  }
  return { from, to };
}

/**
 * A validated copy of a caller's period, with its instants in the form of the ledger.
 * @throws the errors of `period`
 */
export function readPeriod(given: GivenPeriod): Period {
  return period(given.from, given.to);
}

/** Whether the instant lies in the period. */
export function holds({ from, to }: Period, instant: Instant): boolean {
  return from <= instant && instant < to;
}

/** Whether two periods share an instant: nine of Allen's thirteen relations. */
export function overlaps(a: Period, b: Period): boolean {
  return a.from < b.to && b.from < a.to;
}

/** The common part of two periods, if there is one. */
export function intersection(a: Period, b: Period): Period | undefined {
  if (!overlaps(a, b)) return undefined;
  return { from: a.from < b.from ? b.from : a.from, to: a.to < b.to ? a.to : b.to };
}

/**
 * The parts of a period outside the others, in order (the temporal leftovers of SQL:2011). The
 * others may overlap.
 */
export function leftovers(of: Period, others: readonly Period[]): Period[] {
  const left: Period[] = [];
  let from = of.from;
  for (const other of [...others].sort(byStart)) {
    if (other.to <= from) continue;
    if (other.from >= of.to) break;
    if (other.from > from) left.push({ from, to: other.from });
    from = other.to;
  }
  if (from < of.to) left.push({ from, to: of.to });
  return left;
}

/**
 * Cuts the periods at all their borders. Returns the pieces in order. No piece contains a border.
 */
export function atomicSegments(periods: readonly Period[]): Period[] {
  const steps = new Map<Instant, number>();
  const step = (at: Instant, by: number): unknown => steps.set(at, (steps.get(at) ?? 0) + by);
  for (const { from, to } of periods) {
    step(from, 1);
    step(to, -1);
  }
  const borders = [...steps.keys()].sort();
  const segments: Period[] = [];
  let depth = 0;
  for (const [i, from] of borders.entries()) {
    depth += steps.get(from)!;
    if (depth > 0) segments.push({ from, to: borders[i + 1]! });
  }
  return segments;
}

/**
 * Joins adjacent periods. If one ends where the next starts, `join` returns the merged period, or
 * undefined to keep both. The periods must not overlap.
 */
export function coalesce<T extends Period>(
  stretches: readonly T[],
  join: (a: T, b: T) => T | undefined,
): T[] {
  const joined: T[] = [];
  for (const next of [...stretches].sort(byStart)) {
    const last = joined.at(-1);
    const one = last !== undefined && last.to === next.from ? join(last, next) : undefined;
    if (one === undefined) joined.push(next);
    else joined[joined.length - 1] = one;
  }
  return joined;
}

function byStart(a: Period, b: Period): number {
  return a.from < b.from ? -1 : a.from > b.from ? 1 : 0;
}

function noInstant(border: string, open: string): MemoryError {
  return new MemoryError(
    'no_instant',
    `The ${border} instant of a period must be an instant such as 2026-03-23T09:00:00.000000Z, or ${open}.`,
    { evidence: { border } },
  );
}
