import type { EstTime } from './schema.ts';

const HOUR_MS = 3_600_000;

/** Hours from one local time to another. Both are EST, so the zone cancels out. */
export function hoursBetween(from: EstTime, to: EstTime): number {
  return (Date.parse(`${to}Z`) - Date.parse(`${from}Z`)) / HOUR_MS;
}
