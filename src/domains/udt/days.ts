/** A day of the calendar where the clinic is: `2026-03-23`. Text order is time order. */
export type Day = string;

const MS = 86_400_000;

/** Whole days from one to another; negative when `to` is the earlier. Days have no hours, so no zone can shift them. */
export function daysBetween(from: Day, to: Day): number {
  return (Date.parse(to) - Date.parse(from)) / MS;
}

export function addDays(day: Day, days: number): Day {
  return new Date(Date.parse(day) + days * MS).toISOString().slice(0, 10);
}

/** The day of an instant in UTC. It is never behind the day in Arizona, so nothing of today looks like tomorrow's. */
export function dayOf(instant: string): Day {
  return instant.slice(0, 10);
}

export function laterOf(a: Day, b: Day): Day {
  return a < b ? b : a;
}
