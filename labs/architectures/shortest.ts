import type { Architecture, Setting } from './architecture.ts';
import type { Case } from './cases/cases.ts';
import type { Evaluator } from './evaluator.ts';
import type { ComparedStep, Violation, ViolationKind } from './report.ts';
import { type Break, type RunTurn, runSchedule } from './run-schedule.ts';
import { type Schedule, stepsOf, type Turn, withoutTurn } from './schedule.ts';

/** A schedule that ends with the submission that breaks a rule. */
export interface BreakingSchedule {
  readonly case: Case;
  readonly schedule: Schedule;
}

/** The parts of a repeated run. */
export interface Replaying {
  readonly architecture: Architecture;
  readonly evaluator: Evaluator;
  readonly setting: Omit<Setting, 'start'>;
}

/** The rule that a schedule must break, and how. */
interface Wanted {
  readonly rule: string;
  readonly kind: ViolationKind;
}

/**
 * Shrinks a schedule: no turn can be left out, and no read can move to just before its submission,
 * so that the rule still breaks in the same way. Runs the architecture for each attempt.
 */
export async function shrunk(
  { case: tried, schedule }: BreakingSchedule,
  wanted: Wanted,
  replaying: Replaying,
): Promise<BreakingSchedule> {
  let shortest = schedule;
  for (let i = shortest.length - 1; i >= 0; ) {
    const shorter = await breaking(tried, withoutTurn(shortest, i), wanted, replaying);
    if (shorter !== undefined) shortest = shorter;
    i = shorter === undefined ? i - 1 : shortest.length - 1;
  }
  for (const i of shortest.keys()) {
    const later = withLateRead(shortest, i);
    const moved = later && (await breaking(tried, later, wanted, replaying));
    if (moved?.length === shortest.length) shortest = moved;
  }
  return { case: tried, schedule: shortest };
}

function withLateRead(schedule: Schedule, index: number): Schedule | undefined {
  const turn = schedule[index] as Turn;
  return turn.readAfter === index ? undefined : schedule.with(index, { ...turn, readAfter: index });
}

/** The schedule up to the submission that breaks the rule. Undefined if none does. */
async function breaking(
  tried: Case,
  schedule: Schedule,
  { rule, kind }: Wanted,
  { architecture, evaluator, setting }: Replaying,
): Promise<Schedule | undefined> {
  const turns = await runSchedule(architecture, tried, schedule, evaluator, setting);
  const last = turns.findIndex(({ breaks }) =>
    breaks.some((each) => each.rule === rule && each.kind === kind),
  );
  return last === -1 ? undefined : schedule.slice(0, last + 1);
}

/** The violation that a schedule shows, with its steps. */
export async function violationOf(
  { case: tried, schedule }: BreakingSchedule,
  wanted: Wanted & { readonly schedules: number },
  { architecture, evaluator, setting }: Replaying,
): Promise<Violation> {
  const turns = await runSchedule(architecture, tried, schedule, evaluator, setting);
  const last = turns.at(-1) as RunTurn;
  const { detail } = last.breaks.find(({ rule }) => rule === wanted.rule) as Break;
  return {
    ...{ rule: wanted.rule, kind: wanted.kind, schedules: wanted.schedules, detail },
    ...{ reached_by: tried.reachedBy, start: tried.start },
    steps: stepsOf(schedule).flatMap(({ does, turn: i }) => {
      const agent = (tried.agents[(schedule[i] as Turn).agent] as Case['agents'][number]).name;
      return does === 'read' ? [{ does, agent }] : submission(agent, turns[i] as RunTurn);
    }),
    ...{ before: last.before, after: last.after },
  };
}

/** A turn without a proposal is not a step. */
function submission(
  agent: string,
  { proposal, outcome, breaks }: RunTurn,
): readonly ComparedStep[] {
  if (proposal === undefined || outcome === undefined) return [];
  return [
    {
      ...{
        does: 'submit',
        agent,
        action: proposal.action,
        args: proposal.args,
        outcome: outcome.outcome,
      },
      ...('reason' in outcome && { reason: outcome.reason }),
      ...(breaks.length > 0 && { breaks: breaks.map(({ rule, detail }) => ({ rule, detail })) }),
    },
  ];
}
