import { form, requireForm } from '#base';
import { type Instant, isInstant } from '#canon';
import { OPEN_END, OPEN_START } from '#ledger';
import { MemoryError } from './errors.ts';

export { OPEN_END, OPEN_START } from '#ledger';

/** A stretch of time, closed-open: `from` is in it, `to` is not (SQL:2011; seed §2.1). */
export interface Period {
  /** An instant, or `OPEN_START`. */
  readonly from: Instant;
  /** An instant, or `OPEN_END`. */
  readonly to: Instant;
}

/**
 * The period from one instant to before the other.
 * @throws MemoryError `no_instant`, `empty_period`, `reversed_period`
 */
export function period(from: Instant, to: Instant): Period {
  if (from !== OPEN_START && !isInstant(from)) throw noInstant('begin', 'OPEN_START');
  if (to !== OPEN_END && !isInstant(to)) throw noInstant('end', 'OPEN_END');
  if (from === to) {
    throw new MemoryError('empty_period', 'A period that ends where it begins holds no instant.', {
      evidence: { from, to },
    });
  }
  if (from > to) {
    throw new MemoryError('reversed_period', 'A period ends after it begins; exchange the two instants.', {
      evidence: { from, to },
    });
  }
  return { from, to };
}

/**
 * A copy of a period that comes from outside.
 * @throws ArgumentError `bad_argument` for what is no object; MemoryError as `period` does
 */
export function readPeriod(given: Period, argument: string): Period {
  requireForm(form.object, given, argument);
  return period(given.from, given.to);
}

/** Whether the instant lies in the period. */
export function holds({ from, to }: Period, instant: Instant): boolean {
  return from <= instant && instant < to;
}

/** Whether the two share an instant: nine of Allen's thirteen relations. */
export function overlaps(a: Period, b: Period): boolean {
  return a.from < b.to && b.from < a.to;
}

/** What the two share, if anything. */
export function intersection(a: Period, b: Period): Period | undefined {
  if (!overlaps(a, b)) return undefined;
  return { from: a.from < b.from ? b.from : a.from, to: a.to < b.to ? a.to : b.to };
}

/** What is left of a period outside of others, in order (the temporal leftovers of SQL:2011). The others may overlap. */
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

/** The periods cut at all their borders: what lies in any of them, in order, none of which a border lies within. */
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
 * Joins what touches: the stretches in order, and of two of which one ends where the other begins, what `join` makes of them; or both,
 * where it makes nothing. They must not overlap.
 */
export function coalesce<T extends Period>(stretches: readonly T[], join: (a: T, b: T) => T | undefined): T[] {
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
    `The ${border} of a period must be an instant such as 2026-03-23T09:00:00.000000Z, or ${open}.`,
    { evidence: { border } },
  );
}
