import { addMicros, type Instant } from 'assize/internal/canon';

const HOUR_MICROS = 3_600_000_000;

export function addHours(at: Instant, hours: number): Instant {
  return addMicros(at, hours * HOUR_MICROS);
}

/** Days of 24 hours. */
export function addDays(at: Instant, days: number): Instant {
  return addHours(at, days * 24);
}

/** Whether an event had happened by that time. */
export function isBy<Row extends { readonly at: Instant }>(
  row: Row | undefined,
  at: Instant,
): row is Row {
  return row !== undefined && row.at <= at;
}
