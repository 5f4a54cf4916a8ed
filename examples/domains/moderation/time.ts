import { addMicros, type Instant } from 'assize/internal/canon';

const MICROS_A_DAY = 86_400_000_000;

/** The same time of day, so many days later. Instants compare as texts. */
export function daysAfter(instant: Instant, days: number): Instant {
  return addMicros(instant, days * MICROS_A_DAY);
}
