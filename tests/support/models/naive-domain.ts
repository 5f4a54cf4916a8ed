import {
  type Action,
  count,
  type EachInvariant,
  each,
  type Invariant,
  type InvariantResult,
  invariant,
  type PlainInvariant,
  type RoleParams,
  type Rules,
  type SumInvariant,
  sum,
  unique,
} from '#kernel';

/** The outcome of a call: the tool's own refusal, or the policy's answer on the resulting state. */
export type Outcome<State> =
  | { readonly outcome: 'tool_error'; readonly detail: string }
  | (Judgement & { readonly state: State });

/** The first invariant that does not pass, or a pass. */
export interface Judgement {
  readonly outcome: 'pass' | 'reject' | 'escalate';
  readonly invariant?: string;
  readonly keys: readonly string[];
  readonly detail?: string;
}

export interface NaiveParts<State> {
  readonly actions: Readonly<Record<string, Pick<Action<State, any, any>, 'args' | 'apply'>>>;
  readonly policy: (rules: Rules<State>) => readonly Invariant<State>[];
  /** A copy that a tool may write to. Parts that no tool writes may be shared. */
  readonly copyOf: (state: State) => State;
}

type KnownKind = PlainInvariant<any> | EachInvariant<any> | SumInvariant<any>;

/** A member or a group that a rule judges. */
interface Place {
  readonly keys: readonly string[];
  readonly result: InvariantResult;
}

const AT = '2024-05-15T20:00:00.000000Z';

/**
 * A domain without a kernel: a tool on a copy of the state, then every invariant on everything, in
 * order. It is slow and plain. A test with it covers tools and policy, and not footprints or
 * indexes.
 */
export class NaiveDomain<State> {
  readonly #parts: NaiveParts<State>;
  readonly #invariants: readonly KnownKind[];

  constructor(parts: NaiveParts<State>) {
    this.#parts = parts;
    const rules = { invariant, each, unique, sum, count } as unknown as Rules<State>;
    this.#invariants = parts.policy(rules).map(ofKnownKind);
  }

  attempt(state: State, name: string, args: unknown, role: RoleParams = {}): Outcome<State> {
    const candidate = this.#parts.copyOf(state);
    try {
      this.perform(candidate, name, args, role);
    } catch (error) {
      return { outcome: 'tool_error', detail: (error as Error).message };
    }
    return { ...this.judge(candidate), state: candidate };
  }

  /** Runs a tool in place. */
  perform(state: State, name: string, args: unknown, role: RoleParams = {}): void {
    const action = this.#parts.actions[name];
    if (action === undefined) throw new Error(`no tool ${name}`);
    action.apply(state, action.args.parse(args), { role, at: AT, observations: [], calls: [] });
  }

  judge(state: State): Judgement {
    for (const rule of this.#invariants) {
      for (const { keys, result } of judged(rule, state)) {
        if (result.result !== 'pass') {
          return { outcome: result.result, invariant: rule.id, keys, detail: result.detail };
        }
      }
    }
    return { outcome: 'pass', keys: [] };
  }

  /** Every rule that does not pass, in order. */
  failing(state: State): string[] {
    return this.#invariants
      .filter((rule) => [...judged(rule, state)].some(({ result }) => result.result !== 'pass'))
      .map(({ id }) => id);
  }

  /** Writes the approval of an escalated proposal. */
  approve(state: State, id: string, keys: readonly string[]): State {
    const approved = this.#parts.copyOf(state);
    const rule = this.#invariants.find((candidate) => candidate.id === id);
    rule?.onApprove?.(approved, { counselor: 'supervisor:test', at: AT, keys });
    return approved;
  }
}

function ofKnownKind(rule: Invariant<any>): KnownKind {
  if (rule.kind === 'plain' || rule.kind === 'each' || rule.kind === 'sum') return rule;
  throw new Error(`${rule.id} is a ${rule.kind}, and this model does not have that`);
}

function* judged(rule: KnownKind, state: unknown): Generator<Place> {
  if (rule.kind === 'plain') {
    yield { keys: [], result: rule.check(state as never, {}) };
  } else if (rule.kind === 'each') {
    for (const { keys, value } of membersOf(rule.path, state)) {
      yield { keys, result: rule.check(value, othersOf(rule.with?.(value, keys), state), keys) };
    }
  } else {
    for (const [group, figure] of sumsOf(rule, state)) {
      yield {
        keys: [group],
        result: rule.check(figure, othersOf(rule.with?.(group), state), group),
      };
    }
  }
}

function sumsOf({ path, per, of }: SumInvariant<any>, state: unknown): Map<string, number> {
  const sums = new Map<string, number>();
  for (const { keys, value } of membersOf(path, state)) {
    const group = per === undefined ? '' : per(value, keys);
    if (group === undefined) continue;
    sums.set(
      group,
      (sums.get(group) ?? 0) + (of === undefined ? (value as number) : of(value, keys)),
    );
  }
  return sums;
}

function membersOf(path: string, state: unknown): { keys: string[]; value: unknown }[] {
  let members: { keys: string[]; value: unknown }[] = [{ keys: [], value: state }];
  for (const segment of path.split('/').slice(1)) {
    members = members.flatMap(({ keys, value }) =>
      Object.entries(value as object)
        .filter(([key]) => segment === '*' || key === segment)
        .map(([key, member]) => ({ keys: segment === '*' ? [...keys, key] : keys, value: member })),
    );
  }
  return members;
}

function othersOf(
  places: Readonly<Record<string, string>> = {},
  state: unknown,
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(places).map(([name, pointer]) => [name, at(state, pointer)]),
  );
}

function at(state: unknown, pointer: string): unknown {
  return pointer
    .split('/')
    .slice(1)
    .reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], state);
}
