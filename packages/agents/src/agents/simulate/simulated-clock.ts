import { addMicros, type Instant, maxInstant } from 'assize/internal/canon';
import type { Clock } from 'assize/internal/oracle';

/** The step of a clock for a turn that the record does not have: one second. */
const STEP_MICROS = 1_000_000;

/** The time of a branch. It stands still between turns, and never goes back. */
export class SimulatedClock implements Clock {
  #now: Instant;

  constructor(start: Instant) {
    this.#now = start;
  }

  now(): Instant {
    return this.#now;
  }

  moveTo(instant: Instant): void {
    this.#now = maxInstant(this.#now, instant);
  }

  step(): void {
    this.#now = addMicros(this.#now, STEP_MICROS);
  }
}
