import type { Json } from '#base';
import { canonicalize, copyJson, type Instant, WORLD_LIMITS } from '#canon';
import {
  type Authority,
  adjudicate,
  approvePending,
  type Domain,
  defineDomain,
  type Escalated,
  KernelError,
  World,
} from '#kernel';

/** A possible next proposal, with its time. */
export interface Proposal {
  readonly action: string;
  readonly role: { readonly name: string; readonly params: Readonly<Record<string, string>> };
  readonly args: Json;
  /** Default: the time of the step before. A proposal from before that is not put. */
  readonly at?: Instant;
}

/** A proposal that was committed. */
export interface Step extends Proposal {
  readonly at: Instant;
  /** The approver, if the proposal escalated. */
  readonly approvedBy?: string;
}

export interface LifeCycle<State> {
  readonly domain: Domain<any, any, any>;
  readonly initial: State;
  /** When it begins. */
  readonly at: Instant;
  /** How many steps from the beginning, at most. */
  readonly depth: number;
  /** All that is tried in a state, sensible or not. */
  readonly proposals: (state: State, at: Instant) => readonly Proposal[];
  /**
   * The reason that forbids the step. Undefined: the step is allowed. Written from the policy, and
   * not from the domain's rules.
   */
  readonly allowed: (before: State, step: Step, after: State) => string | undefined;
  /** The counselors by channel. Each of them approves an escalated proposal once. */
  readonly counselors?: Readonly<Record<string, readonly string[]>>;
}

export interface Walk<State> {
  readonly states: number;
  readonly transitions: number;
  /** How often each action was committed. */
  readonly committed: Readonly<Record<string, number>>;
  /** How often each invariant stopped a proposal, or kept an approval from being committed. */
  readonly stopped: Readonly<Record<string, number>>;
  /** The shortest way to a step that must not have been committed. */
  readonly counterexample?: Counterexample<State>;
}

export interface Counterexample<State> {
  readonly why: string;
  readonly path: readonly Step[];
  readonly before: State;
  readonly after: State;
}

const EVERYBODY: Authority = {
  admits: () => ({ ok: true, needsApproval: false }),
  decides: () => undefined,
  affords: () => ({ ok: true }),
};

interface Node {
  readonly state: Json;
  readonly at: Instant;
  readonly step?: Step;
  readonly from?: Node;
}

/**
 * Walks the life cycle of a domain's subject (Agentic Redux §2.3). The kernel itself computes every
 * state that proposals lead to, approvals included, breadth first. Stops at the first step that
 * `allowed` forbids, which is then one of the shortest. `ofLast` chooses the states from which the
 * last steps are tried. Most states are there.
 */
export function walk<State>(
  life: LifeCycle<State>,
  ofLast: (nodes: readonly Node[]) => readonly Node[] = (nodes) => nodes,
): Walk<State> {
  const committed: Record<string, number> = {};
  const stopped: Record<string, number> = {};
  let transitions = 0;
  const first: Node = { state: copyJson(life.initial, WORLD_LIMITS), at: life.at };
  const seen = new Set([keyOf(first)]);
  let layer: readonly Node[] = [first];
  for (let depth = 0; depth < life.depth && layer.length > 0; depth++) {
    const next: Node[] = [];
    for (const node of depth === life.depth - 1 ? ofLast(layer) : layer) {
      for (const { step, state } of stepsFrom(life, node, stopped)) {
        transitions++;
        committed[step.action] = (committed[step.action] ?? 0) + 1;
        const reached: Node = { state, at: step.at, step, from: node };
        const why = life.allowed(node.state as State, step, state as State);
        if (why !== undefined) {
          const counterexample = { why, path: pathTo(reached), before: node.state as State, after: state as State };
          return { states: seen.size, transitions, committed, stopped, counterexample };
        }
        const key = keyOf(reached);
        if (seen.has(key)) continue;
        seen.add(key);
        next.push(reached);
      }
    }
    layer = next;
  }
  return { states: seen.size, transitions, committed, stopped };
}

/**
 * Whether one of the walks reaches a step that must not be committed. All walks reach a depth
 * before any walk goes deeper: a fault is near the start of one walk, and another walk may be long.
 */
export function someFinds<State>(walks: readonly LifeCycle<State>[]): boolean {
  const deepest = Math.max(...walks.map(({ depth }) => depth));
  for (let depth = 1; depth <= deepest; depth++) {
    const reaching = walks.filter((life) => life.depth >= depth);
    if (reaching.some((life) => walk({ ...life, depth }).counterexample !== undefined)) return true;
  }
  return false;
}

/** The domain without a rule, to see that a walk finds what the rule is there for. */
export function without<D extends Domain<any, any, any>>(domain: D, ...ids: readonly string[]): Domain<any, any, any> {
  const rules = domain.rules.map(({ spec }) => spec);
  const unknown = ids.find((id) => !rules.some((rule) => rule.id === id));
  if (unknown !== undefined) throw new Error(`${domain.name} has no rule ${unknown}`);
  const { declared } = domain;
  return defineDomain<any, any>({ ...declared, invariants: rules.filter(({ id }) => !ids.includes(id)) });
}

function* stepsFrom<State>(
  { domain, proposals, counselors = {} }: LifeCycle<State>,
  node: Node,
  stopped: Record<string, number>,
): Generator<{ step: Step; state: Json }> {
  const world = new World(domain, copyJson(node.state, WORLD_LIMITS) as never);
  const failing = world.failing.map(({ rule }) => rule.id);
  if (failing.length > 0) throw new Error(`a state that was reached breaks ${failing.join(', ')}`);
  // A candidate stays in the `World` until its undo. Checking every rule again for each candidate
  // takes longer than everything else.
  const reached = (candidate: { readonly undo: () => void }): Json => {
    const state = copyJson(world.state, WORLD_LIMITS);
    candidate.undo();
    return state;
  };
  for (const proposal of proposals(copyJson(node.state, WORLD_LIMITS) as State, node.at)) {
    const step = { ...proposal, at: proposal.at ?? node.at };
    if (step.at < node.at) continue;
    const inputs = { at: step.at, observations: [] };
    const ruling = adjudicate(world, step, EVERYBODY, inputs);
    if (ruling.verdict === 'approved') {
      yield { step, state: reached(ruling) };
      continue;
    }
    if (ruling.verdict === 'rejected') {
      if (ruling.reason !== 'invariant_rejected' && ruling.reason !== 'precondition_failed')
        throw new Error(`${step.action} can't be put: ${ruling.reason}: ${ruling.detail}`);
      count(stopped, ruling.invariantId);
      continue;
    }
    count(stopped, ruling.invariantId);
    for (const principal of counselors[ruling.channel] ?? []) {
      const { approved, broken } = approve(world, step, ruling, principal);
      for (const id of broken) count(stopped, id);
      if (approved !== undefined) yield { step: { ...step, approvedBy: principal }, state: reached(approved) };
    }
  }
}

/**
 * Approves an escalated proposal. If the approval fails, returns the rules that block it, and the
 * state is unchanged.
 */
function approve(
  world: World,
  step: Step,
  ruling: Escalated,
  principal: string,
): { readonly approved?: { readonly undo: () => void }; readonly broken: readonly string[] } {
  const { patches, approval, channel, freezes, approvals, invariantId } = ruling;
  const approvedBy = Array.from({ length: approvals - 1 }, (_, i) => ({
    principal: `${principal} ${i + 2}`,
    at: step.at,
  }));
  const waiting = {
    intent: { action: step.action, role: step.role, args: ruling.compiled.args },
    inputs: { at: step.at, observations: [] },
    ...(invariantId === undefined ? {} : { invariantId }),
    ...{ patches, approval, channel, freezes, approvals, approvedBy, requesters: ['agent:walking'] },
  };
  try {
    return { approved: approvePending(world, waiting, { principal, at: step.at }, EVERYBODY), broken: [] };
  } catch (error) {
    if (!(error instanceof KernelError) || error.code !== 'override_needed') throw error;
    const vector = (error.evidence?.['vector'] ?? []) as readonly { invariant_id: string }[];
    return { broken: vector.map((item) => item.invariant_id) };
  }
}

function count(of: Record<string, number>, id: string | undefined): void {
  if (id !== undefined) of[id] = (of[id] ?? 0) + 1;
}

function keyOf({ state, at }: Node): string {
  return `${at} ${canonicalize(state)}`;
}

function pathTo(node: Node): Step[] {
  return node.from === undefined || node.step === undefined ? [] : [...pathTo(node.from), node.step];
}
