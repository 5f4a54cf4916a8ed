/** The times of the tour. Its worlds end on the day of their first start, by the machine's zone. */
import { type Instant, instantFromMillis } from 'assize/internal/canon';
import { type EntryRow, readRow } from 'assize/internal/ledger';
import { systemClock } from 'assize/internal/oracle';
import type { Store } from 'assize/internal/stores';
import { EXPENSES_WORLD } from './tour-config.ts';

/** The world `expenses` begins this long before its last day: nine months. */
const DAYS = 270;

/** The time on a day before the last day. */
export function timeBefore(lastDay: Instant, days: number, hour: number, minute = 0): Instant {
  const at = new Date(lastDay);
  at.setDate(at.getDate() - days);
  at.setHours(hour, minute, 0, 0);
  return instantFromMillis(at.getTime());
}

export function beginOf(lastDay: Instant): Instant {
  return timeBefore(lastDay, DAYS, 9);
}

/** Today, or for the worlds of an earlier start, the day of that start. */
export async function lastDayOf(store: Store): Promise<Instant> {
  if ((await store.head(EXPENSES_WORLD)) === undefined) return systemClock.now();
  const [first] = await store.entries(EXPENSES_WORLD, { from: 0, limit: 1 });
  return timeBefore(readRow(first as EntryRow).payload.at, -DAYS, 12);
}
