import { deepFreeze, type Json } from 'assize/internal/base';
import type { Domain, Intent } from 'assize/internal/kernel';
import type { AgentProposal } from '../architecture.ts';
import { type Choices, ProposalDrawer } from '../draw/index.ts';
import type { Evaluator } from '../evaluator.ts';

/** A reached state, with proposals that every rule allows there. */
export interface Place {
  readonly state: Json;
  /** The proposals that lead there. */
  readonly reachedBy: readonly AgentProposal[];
  /** The allowed proposals that change the state, by their worker: a role with its parameters. */
  readonly workers: ReadonlyMap<string, readonly Intent[]>;
}

/** Proposals that are drawn to reach further states. */
const DRAWS = 2_000;
/** The most reached states that are kept. */
const REACHED_MAX = 40;
/** The most states, with the starting ones, on which proposals are drawn. */
const PLACES_MAX = 41;
/** Half of the proposals are drawn on one of the latest states: some rules need many steps. */
const LATEST = 5;
/** The most proposals that lead to a state: a person must be able to follow them. */
const DEPTH_MAX = 8;
/** Proposals of each action and role that are drawn on one state. */
const TRIES = 20;
/** Proposals between two looks at the event loop. */
const PAUSE_EACH = 100;

/** The actions that generated agents propose: all that call no tool. */
export function isDrawable({ actions }: Domain, action: string): boolean {
  return actions[action]?.calls === undefined;
}

/** Such as `spender:ada`. */
export function workerName({ name, params }: Intent['role']): string {
  return [name, ...Object.values(params)].join(':');
}

/** The starting states, and some that allowed proposals reach from there. */
export async function reachedPlaces(
  evaluator: Evaluator,
  starts: readonly Json[],
  choices: Choices,
  pause: () => Promise<void>,
): Promise<readonly Place[]> {
  const drawer = new ProposalDrawer(evaluator.domain, (action) =>
    isDrawable(evaluator.domain, action),
  );
  const places: Place[] = [];
  const reached = await reachedStates(evaluator, starts, drawer, choices, pause);
  for (const { state, reachedBy } of choices.some(reached, PLACES_MAX)) {
    await pause();
    places.push({ state, reachedBy, workers: workersOn(evaluator, state, drawer, choices) });
  }
  return places.filter(({ workers }) => workers.size > 0);
}

/** A reached state. `done`: the different actions that lead there, in one text. */
type Reached = Omit<Place, 'workers'> & { readonly done: string };

/** The starting states, and states that a random walk from them finds. */
async function reachedStates(
  evaluator: Evaluator,
  starts: readonly Json[],
  drawer: ProposalDrawer,
  choices: Choices,
  pause: () => Promise<void>,
): Promise<readonly Reached[]> {
  const beginnings = starts.map((state): Reached => ({ state, reachedBy: [], done: '' }));
  const found: Reached[] = [];
  const seen = new Set(starts.map((state) => evaluator.textOf(state)));
  for (let draw = 0; draw < DRAWS; draw++) {
    if (draw % PAUSE_EACH === 0) await pause();
    const all = [...beginnings, ...found];
    const from =
      draw % 2 === 0
        ? choices.oneOf(choices.oneOf(byActions(all)))
        : choices.oneOf(all.slice(-LATEST));
    if (from.reachedBy.length >= DEPTH_MAX) continue;
    const intent = drawer.one(from.state, choices);
    if (intent === undefined) break;
    const state = allowedState(evaluator, from.state, intent);
    if (state === undefined || seen.has(evaluator.textOf(state))) continue;
    seen.add(evaluator.textOf(state));
    const reachedBy = [
      ...from.reachedBy,
      deepFreeze({ agent: workerName(intent.role), ...intent }),
    ];
    if (found.length === REACHED_MAX)
      found.splice(found.indexOf(choices.oneOf(largest(byActions(found)))), 1);
    found.push({
      state,
      reachedBy,
      done: [...new Set(reachedBy.map(({ action }) => action))].sort().join('\n'),
    });
  }
  return [...beginnings, ...found];
}

/** The states by the actions before them: many actions are possible only after certain others. */
function byActions(reached: readonly Reached[]): readonly (readonly Reached[])[] {
  return [...Map.groupBy(reached, ({ done }) => done).values()];
}

function largest<T>(groups: readonly (readonly T[])[]): readonly T[] {
  return groups.reduce((most, group) => (group.length > most.length ? group : most));
}

function workersOn(
  evaluator: Evaluator,
  state: Json,
  drawer: ProposalDrawer,
  choices: Choices,
): ReadonlyMap<string, readonly Intent[]> {
  const text = evaluator.textOf(state);
  const changing = [...drawer.each(state, choices, TRIES)].filter((intent) => {
    const next = allowedState(evaluator, state, intent);
    return next !== undefined && evaluator.textOf(next) !== text;
  });
  const distinct = [
    ...new Map(changing.map((intent) => [JSON.stringify(intent), deepFreeze(intent)])).values(),
  ];
  return Map.groupBy(distinct, ({ role }) => workerName(role));
}

/** The state after a proposal. Undefined if the domain refuses it, or if it breaks a rule. */
export function allowedState(evaluator: Evaluator, state: Json, intent: Intent): Json | undefined {
  const evaluation = evaluator.evaluate(state, intent);
  return 'refused' in evaluation || evaluation.broken.length > 0 ? undefined : evaluation.candidate;
}
