import { addMicros, type Instant, instantFromMillis, readInstant, type Time } from '#canon';
import { OracleError } from './errors.ts';

/** The source of time. Only this port reads the machine's clock. */
export interface Clock {
  /** UTC, microseconds. */
  now(): Instant;
}

/**
 * The machine's clock. If that clock is set back by more than a second, the next instant is earlier
 * too: the writer of a trajectory keeps the order of its entries. Otherwise each instant is later
 * than the one before. Microseconds between two ticks of the wall clock come from the monotonic
 * clock.
 */
export const systemClock: Clock = Object.freeze({
  now: () => {
    const wall = wallMicros();
    const wasSetBack = lastMicros - wall > SET_BACK_MICROS;
    lastMicros = wasSetBack ? wall : Math.max(wall, lastMicros + 1);
    return instantOf(lastMicros);
  },
});

/**
 * A clock for tests. It starts at `instant` and advances by `stepMicros` (default 0: it does not
 * advance) with every reading.
 *
 * @throws OracleError `bad_argument`
 */
export function fixedClock(instant: Time, stepMicros = 0): Clock {
  const start = readInstant(instant);
  if (start === undefined) {
    throw new OracleError(
      'bad_argument',
      'The start of the clock must be a time such as a Date, or 2026-03-23T09:00:00.000000Z.',
      {
        evidence: { given: instant },
      },
    );
  }
  if (!Number.isSafeInteger(stepMicros) || stepMicros < 0) {
    throw new OracleError(
      'bad_argument',
      'The step of the clock must be a whole number of microseconds from 0.',
      {
        evidence: { given: stepMicros },
      },
    );
  }
  let next = start;
  return Object.freeze({
    now: () => {
      const now = next;
      next = addMicros(now, stepMicros);
      return now;
    },
  });
}

/** A smaller step back is a reading that the machine delayed. */
const SET_BACK_MICROS = 1_000_000;

let lastMicros = 0;
let originMicros = performance.timeOrigin * 1000;

/**
 * Maximum drift between the two clocks (a change of the machine's clock, sleep) before the
 * monotonic clock is reset.
 */
const DRIFT_MICROS = 5_000;

function wallMicros(): number {
  const wall = Date.now() * 1000;
  const micros = Math.floor(originMicros + performance.now() * 1000);
  if (Math.abs(micros - wall) <= DRIFT_MICROS) return micros;
  originMicros = wall - performance.now() * 1000;
  return wall;
}

function instantOf(micros: number): Instant {
  return instantFromMillis(Math.floor(micros / 1000), micros % 1000);
}
