/**
 * The coverage as a query without a proposal: the main question of the domain (Agentic Redux §3.1).
 */
import { arg, checkArgument } from 'assize/internal/base';
import { abstinenceOn } from './abstinence.ts';
import type { Day } from './days.ts';
import { type Coverage, day as isDay, type Tier, type UdtState } from './schema.ts';
import { type Window, windowsOf } from './window.ts';

export interface CoverageQuestion {
  readonly patient: string;
  /** The day of collection, from enrolment on. A future day is allowed. */
  readonly day: Day;
  /** An event of the patient: later records do not count. Default: all events until now. */
  readonly known?: number;
}

/** AHCCCS coverage of a patient's definitive tests on one day. */
export interface CoverageReport {
  readonly day: Day;
  readonly known: number;
  readonly tier: Tier;
  readonly last_positive: Day | null;
  readonly consecutive_days: number;
  /** The coverage of the tier. */
  readonly allowed: Coverage;
  /** First and last day of the window that ends on the day. */
  readonly window: { readonly from: Day; readonly to: Day };
  /** The covered definitive tests in the window, by day and then by name. */
  readonly covered: readonly {
    readonly test: string;
    readonly claim: string;
    readonly date: Day;
  }[];
  /** The windows of claims for later days that the day is in, if there are any. */
  readonly later?: readonly {
    readonly tier: Tier;
    readonly from: Day;
    readonly to: Day;
    readonly left: number;
  }[];
  /** Number of further covered definitive tests on that day, in all of these windows. */
  readonly left: number;
}

const STATE = arg.members({
  coverage: arg.object,
  events: arg.object,
  patients: arg.object,
  tests: arg.object,
  claims: arg.object,
});
const QUESTION = arg.members({
  patient: arg.text,
  day: arg.of('a day such as 2026-03-23', (value) => isDay.safeParse(value).success),
  known: arg.optional(arg.whole),
});
const ENROLLED = arg.of('a patient who was enrolled on that day', (value) => value === true);

/**
 * The tier of a day, its coverage in the window that ends there, and the remaining coverage, as a
 * claim after event `known` is adjudicated. Pure. The cost is that of the patient's own rows. For
 * the knowledge at a time instead of an event, use the state at that time (`assize state ID@SEQ`).
 *
 * @throws ArgumentError `bad_argument`, also if the patient was not enrolled on that day
 */
export function coverageOn(state: UdtState, question: CoverageQuestion): CoverageReport {
  checkArgument(STATE, state, 'state');
  checkArgument(QUESTION, question, 'question');
  const { patient, day } = question;
  const enrolledAt = state.patients[patient]?.enrolled_at;
  checkArgument(ENROLLED, enrolledAt !== undefined && enrolledAt <= day, 'question.patient');
  const { known = state.events[patient] ?? 0 } = question;
  const { [patient]: tests = {} } = state.tests;
  const abstinence = abstinenceOn(day, enrolledAt as Day, tests, known);
  const asked = { date: day, tier: abstinence.tier, n: known };
  const [own, ...later] = windowsOf(asked, state.coverage, state.claims[patient] ?? {}, tests);
  const covered = own.covered
    .map(([claim, { test, date }]) => ({ test, claim, date }))
    .sort((a, b) => (a.date + a.test < b.date + b.test ? -1 : 1));
  return {
    day,
    known,
    ...abstinence,
    allowed: own.allowed,
    window: { from: own.from, to: own.to },
    covered,
    ...(later.length > 0 && {
      later: later.map(({ tier, from, to, ...one }) => ({ tier, from, to, left: leftIn(one) })),
    }),
    left: Math.min(...[own, ...later].map(leftIn)),
  };
}

function leftIn({ allowed, covered }: Pick<Window, 'allowed' | 'covered'>): number {
  return Math.max(0, allowed.tests - covered.length);
}
