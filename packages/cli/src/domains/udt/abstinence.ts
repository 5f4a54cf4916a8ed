/**
 * The abstinence of one patient, computed from the tests. The functions read only their arguments.
 */
import { type Day, daysBetween, laterOf } from './days.ts';
import { isDoctor } from './doctor.ts';
import type { Patient, Tier, UdtTest } from './schema.ts';

export type Tests = Readonly<Record<string, UdtTest>>;

/** The days that are counted for a tier. */
export interface Abstinence {
  readonly last_positive: Day | null;
  readonly consecutive_days: number;
  readonly tier: Tier;
}

/**
 * The abstinence on a day, as known in event `n`. Days count from collection, independent of when
 * the result arrived. A positive counts confirmed or not, and also on the day of its own
 * collection. Without a positive, days count from enrolment.
 */
export function abstinenceOn(
  day: Day,
  enrolledAt: Day,
  tests: Tests,
  n: number = Number.MAX_SAFE_INTEGER,
): Abstinence {
  const last_positive = lastPositive(day, tests, n);
  const consecutive_days = daysBetween(last_positive ?? enrolledAt, day);
  return { last_positive, consecutive_days, tier: tierOf(consecutive_days) };
}

/** A patient's abstinence counted up to a day. The day is never before the last relevant sample. */
export function tracked(
  { as_of: before, enrolled_at }: Pick<Patient, 'as_of' | 'enrolled_at'>,
  tests: Tests,
  upTo: Day,
): Abstinence & Pick<Patient, 'as_of'> {
  const as_of = laterOf(before, upTo);
  return { as_of, ...abstinenceOn(as_of, enrolled_at, tests) };
}

function lastPositive(day: Day, tests: Tests, n: number): Day | null {
  let last: Day | null = null;
  for (const test of Object.values(tests)) {
    if (
      counts(test, n) &&
      test.collected_at <= day &&
      (last === null || test.collected_at > last)
    ) {
      last = test.collected_at;
    }
  }
  return last;
}

/** Whether a test was known as positive in event `n`, and not set aside by then. */
function counts({ result, n: recorded, set_aside }: UdtTest, n: number): boolean {
  if (result !== 'positive' || recorded > n) return false;
  return set_aside === undefined || set_aside.n > n || !isDoctor(set_aside.by);
}

function tierOf(days: number): Tier {
  if (days >= 90) return '90+';
  return days >= 31 ? '31-89' : '0-30';
}
