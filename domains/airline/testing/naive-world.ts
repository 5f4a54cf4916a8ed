import {
  count,
  type EachInvariant,
  each,
  type Invariant,
  invariant,
  type PlainInvariant,
  type Rules,
  sum,
  unique,
} from 'assize/kernel';
import { policy } from '../policy.ts';
import type { AirlineState } from '../schema.ts';
import { actions } from '../tools.ts';

/** What became of a call: the tool's own refusal, or what the whole policy says of the state it leads to. */
export type Outcome =
  | { readonly outcome: 'tool_error'; readonly detail: string }
  | {
      readonly outcome: 'pass' | 'reject' | 'escalate';
      readonly invariant?: string;
      readonly keys: readonly string[];
      readonly detail?: string;
      readonly state: AirlineState;
    };

const rules = { invariant, each, unique, sum, count } as Rules<AirlineState>;
const invariants = policy(rules).map(ofKnownKind);

type KnownKind = PlainInvariant<AirlineState> | EachInvariant<AirlineState>;

function ofKnownKind(rule: Invariant<AirlineState>): KnownKind {
  if (rule.kind === 'plain' || rule.kind === 'each') return rule;
  throw new Error(`${rule.id} is a ${rule.kind}, which is not told here`);
}

/**
 * The domain without a kernel: a tool on a copy of the state, then every invariant on everything, in order. Slow and
 * plain, so that a test says something about tools and policy and nothing about footprints or indexes.
 */
export function attempt(state: AirlineState, name: string, args: unknown): Outcome {
  const candidate = copyOf(state);
  try {
    perform(candidate, name, args);
  } catch (error) {
    return { outcome: 'tool_error', detail: (error as Error).message };
  }
  return { ...judge(candidate), state: candidate };
}

/** Runs a tool in place. */
export function perform(state: AirlineState, name: string, args: unknown): void {
  const action = actions[name as keyof typeof actions];
  if (action === undefined) throw new Error(`no tool ${name}`);
  const parsed = action.args.parse(args);
  action.apply(state, parsed as never, { role: {}, at: '2024-05-15T20:00:00.000000Z', observations: [] });
}

/** The first invariant that does not pass, or a pass. */
export function judge(state: AirlineState): {
  outcome: 'pass' | 'reject' | 'escalate';
  invariant?: string;
  keys: readonly string[];
  detail?: string;
} {
  for (const rule of invariants) {
    for (const { keys, value } of membersOf(rule, state)) {
      const result = check(rule, state, value, keys);
      if (result.result !== 'pass') return { outcome: result.result, invariant: rule.id, keys, detail: result.detail };
    }
  }
  return { outcome: 'pass', keys: [] };
}

/** Writes the approval of what escalated. */
export function approve(state: AirlineState, id: string, keys: readonly string[]): AirlineState {
  const approved = copyOf(state);
  const rule = invariants.find((candidate) => candidate.id === id);
  rule?.onApprove?.(approved, { counselor: 'supervisor:test', at: '2024-05-15T20:00:00.000000Z', keys });
  return approved;
}

function check(rule: KnownKind, state: AirlineState, value: unknown, keys: readonly string[]) {
  if (rule.kind === 'plain') return rule.check(state, {});
  const places = Object.entries(rule.with?.(value, keys) ?? {});
  return rule.check(value, Object.fromEntries(places.map(([name, pointer]) => [name, at(state, pointer)])), keys);
}

function membersOf(rule: KnownKind, state: AirlineState): { keys: string[]; value: unknown }[] {
  if (rule.kind === 'plain') return [{ keys: [], value: state }];
  let members: { keys: string[]; value: unknown }[] = [{ keys: [], value: state }];
  for (const segment of rule.path.split('/').slice(1)) {
    members = members.flatMap(({ keys, value }) =>
      Object.entries(value as object)
        .filter(([key]) => segment === '*' || key === segment)
        .map(([key, member]) => ({ keys: segment === '*' ? [...keys, key] : keys, value: member })),
    );
  }
  return members;
}

function at(state: unknown, pointer: string): unknown {
  return pointer
    .split('/')
    .slice(1)
    .reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], state);
}

/** Flights are written by no tool, and half of the database. */
export function copyOf({ flights, ...rest }: AirlineState): AirlineState {
  return { ...structuredClone(rest), flights };
}
