import type { Choices } from './draw/index.ts';

/**
 * One turn of an agent: it reads, and later submits. Turns of a schedule are in the order of their
 * submissions.
 */
export interface Turn {
  /** The index of the agent. */
  readonly agent: number;
  /** The number of submissions before the agent reads. At most the index of the turn. */
  readonly readAfter: number;
}

/**
 * The turns of all agents, in one order. Two schedules that differ only in the order of reads
 * between the same submissions are one schedule, because a read changes nothing.
 */
export type Schedule = readonly Turn[];

/** A step of a schedule: a read, or the submission of a turn. */
export interface Step {
  readonly does: 'read' | 'submit';
  /** The index of the turn. */
  readonly turn: number;
}

/** Every schedule in which each of the agents takes this number of turns. */
export function* schedulesOf(agents: number, turns: number): Generator<Schedule> {
  const left = Array.from({ length: agents }, () => turns);
  yield* continued([], left);
}

function* continued(begun: Schedule, left: readonly number[]): Generator<Schedule> {
  if (left.every((count) => count === 0)) yield begun;
  for (const [agent, count] of left.entries()) {
    if (count === 0) continue;
    for (let readAfter = earliestRead(begun, agent); readAfter <= begun.length; readAfter++)
      yield* continued([...begun, { agent, readAfter }], left.with(agent, count - 1));
  }
}

/** An agent reads again after its last submission. */
function earliestRead(begun: Schedule, agent: number): number {
  return begun.findLastIndex((turn) => turn.agent === agent) + 1;
}

/** All schedules, or undefined if there are more than `most`. */
export function allSchedules(
  agents: number,
  turns: number,
  most: number,
): readonly Schedule[] | undefined {
  const found: Schedule[] = [];
  for (const schedule of schedulesOf(agents, turns)) {
    if (found.length === most) return undefined;
    found.push(schedule);
  }
  return found;
}

/** Draws are repeated this often for each wanted schedule, because a draw can repeat another. */
const DRAWS_EACH = 20;

/** Different schedules, drawn. Fewer than `count` if most draws repeat others. */
export function someSchedules(
  agents: number,
  turns: number,
  count: number,
  choices: Choices,
): readonly Schedule[] {
  const found = new Map<string, Schedule>();
  for (let draw = 0; found.size < count && draw < count * DRAWS_EACH; draw++) {
    const schedule = drawnSchedule(agents, turns, choices);
    found.set(JSON.stringify(schedule), schedule);
  }
  return [...found.values()];
}

function drawnSchedule(agents: number, turns: number, choices: Choices): Schedule {
  const left = Array.from({ length: agents }, () => turns);
  let begun: Schedule = [];
  for (let total = agents * turns; total > 0; total--) {
    const agent = agentAt(choices.below(total), left);
    left[agent] = (left[agent] as number) - 1;
    const first = earliestRead(begun, agent);
    begun = [...begun, { agent, readAfter: first + choices.below(begun.length - first + 1) }];
  }
  return begun;
}

/** The agent of the turn with this index among all turns that are left. */
function agentAt(index: number, left: readonly number[]): number {
  let before = 0;
  return left.findIndex((count) => {
    before += count;
    return index < before;
  });
}

/** The steps of a schedule: between two submissions, reads are in the order of their turns. */
export function stepsOf(schedule: Schedule): readonly Step[] {
  return schedule.flatMap((_, after): Step[] => [
    ...schedule.flatMap(({ readAfter }, turn): Step[] =>
      readAfter === after ? [{ does: 'read', turn }] : [],
    ),
    { does: 'submit', turn: after },
  ]);
}

/** The schedule without one turn. Later reads stay between the same submissions. */
export function withoutTurn(schedule: Schedule, dropped: number): Schedule {
  return schedule.flatMap(({ agent, readAfter }, i): Turn[] =>
    i === dropped ? [] : [{ agent, readAfter: readAfter > dropped ? readAfter - 1 : readAfter }],
  );
}
