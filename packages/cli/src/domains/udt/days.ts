/** A calendar day at the clinic: `2026-03-23`. Text order is time order. */
export type Day = string;

const MS = 86_400_000;

/**
 * Whole days between two days, negative if `to` is the earlier one. Days have no hours, so no time
 * zone can shift them.
 */
export function daysBetween(from: Day, to: Day): number {
  return (Date.parse(to) - Date.parse(from)) / MS;
}

export function addDays(day: Day, days: number): Day {
  return new Date(Date.parse(day) + days * MS).toISOString().slice(0, 10);
}

/**
 * The UTC day of an instant. It is never behind the day in Arizona, so a present day never looks
 * like a future one.
 */
export function dayOf(instant: string): Day {
  return instant.slice(0, 10);
}

export function laterOf(a: Day, b: Day): Day {
  return a < b ? b : a;
}
