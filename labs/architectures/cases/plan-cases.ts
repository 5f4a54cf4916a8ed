import type { Json } from 'assize/internal/base';
import { type ComparedAgent, GivenAgent } from '../agents.ts';
import type { Choices } from '../draw/index.ts';
import { ArchitectureError } from '../errors.ts';
import type { Evaluator } from '../evaluator.ts';
import type { CheckedOptions } from '../options.ts';
import { allSchedules, type Schedule, someSchedules } from '../schedule.ts';
import { type Case, CaseDrawer } from './cases.ts';

/** A case with the schedules that are run in it. */
export interface PlannedCase {
  readonly case: Case;
  readonly schedules: readonly Schedule[];
}

/** All cases of a comparison. */
export interface CasePlan {
  readonly cases: readonly PlannedCase[];
  /** Whether every possible schedule of each case is run. */
  readonly isExhaustive: boolean;
}

type PlanOptions = Pick<CheckedOptions, 'population' | 'turns' | 'schedules'>;

/** A comparison has at least this number of generated cases, if it has as many schedules. */
const GENERATED_MIN = 10;

/** The agents of the caller on each starting state. */
export function givenCases(
  starts: readonly Json[],
  given: readonly ComparedAgent[],
  { population, turns, schedules: most }: PlanOptions,
  choices: Choices,
): CasePlan {
  const agents = given.map((agent) => new GivenAgent(agent));
  const each = Math.max(1, Math.floor(most / starts.length));
  const all = allSchedules(population, turns, each);
  const cases = starts.slice(0, most).map((start) => ({
    case: { start, reachedBy: [], agents },
    schedules: all ?? someSchedules(population, turns, each, choices),
  }));
  return { cases, isExhaustive: all !== undefined && starts.length <= most };
}

/**
 * Drawn cases of generated agents, until the schedules are used up or draws only repeat cases.
 *
 * @throws ArchitectureError `no_proposals`
 */
export async function generatedCases(
  evaluator: Evaluator,
  starts: readonly Json[],
  { population, turns, schedules: most }: PlanOptions,
  choices: Choices,
  pause: () => Promise<void>,
): Promise<CasePlan> {
  const drawer = await CaseDrawer.on(evaluator, starts, choices, pause);
  const each = Math.max(1, Math.ceil(most / GENERATED_MIN));
  const all = allSchedules(population, turns, each);
  const cases: PlannedCase[] = [];
  for (let left = most; left > 0; ) {
    const drawn = drawer.next(population);
    if (drawn === undefined) break;
    const schedules = (all ?? someSchedules(population, turns, each, choices)).slice(0, left);
    cases.push({ case: drawn, schedules });
    left -= schedules.length;
  }
  if (cases.length === 0) throw noProposals();
  return { cases, isExhaustive: cases.every(({ schedules }) => schedules.length === all?.length) };
}

export function noProposals(): ArchitectureError {
  const message =
    'No agent proposes anything on the starting states. Pass other states, or other agents.';
  return new ArchitectureError('no_proposals', message);
}
