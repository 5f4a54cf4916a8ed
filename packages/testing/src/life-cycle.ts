import { ArgumentError, arg, checkArgument, isInstance, type Json } from 'assize/internal/base';
import {
  canonicalize,
  copyJson,
  type Instant,
  isInstant,
  WORLD_LIMITS,
} from 'assize/internal/canon';
import {
  type Authority,
  adjudicate,
  approvePending,
  type Domain,
  defineDomain,
  type Escalated,
  KernelError,
  requireOwnDomain,
  World,
} from 'assize/internal/kernel';

/** A possible next proposal, with its time. */
export interface LifeCycleProposal {
  readonly action: string;
  readonly role: { readonly name: string; readonly params: Readonly<Record<string, string>> };
  readonly args: Json;
  /** Default: the time of the step before. A proposal from before that is not put. */
  readonly at?: Instant;
}

/** A proposal that was committed. */
export interface LifeCycleStep extends LifeCycleProposal {
  readonly at: Instant;
  /** The approver, if the proposal escalated. */
  readonly approvedBy?: string;
}

export interface LifeCycle<State> {
  readonly domain: Domain<any, any, any>;
  readonly initial: State;
  /** When it begins. */
  readonly at: Instant;
  /** Maximum number of steps from the beginning. */
  readonly depth: number;
  /**
   * Maximum number of states. A walk that reaches it ends, and is not `complete`. Default: none.
   */
  readonly statesMax?: number;
  /** All that is tried in a state, sensible or not. */
  readonly proposals: (state: State, at: Instant) => readonly LifeCycleProposal[];
  /**
   * The reason that forbids the step. Undefined: the step is allowed. Written from the policy, and
   * not from the domain's rules. `path`: one of the shortest ways to `before`.
   */
  readonly allowed: (
    before: State,
    step: LifeCycleStep,
    after: State,
    path: readonly LifeCycleStep[],
  ) => string | undefined;
  /** The counselors by channel. Each of them approves an escalated proposal once. */
  readonly counselors?: Readonly<Record<string, readonly string[]>>;
}

/** The result of a walk. */
export interface LifeCycleWalk<State> {
  /** Number of different pairs of a state and a time. */
  readonly states: number;
  readonly transitions: number;
  /** False if the walk ended at `statesMax` or at a counterexample. */
  readonly complete: boolean;
  /** How often each action was committed. */
  readonly committed: Readonly<Record<string, number>>;
  /** How often each invariant stopped a proposal, or kept an approval from being committed. */
  readonly stopped: Readonly<Record<string, number>>;
  /** The shortest way to a step that must not have been committed. */
  readonly counterexample?: ForbiddenStep<State>;
}

/** A committed step that `allowed` forbids, with the way to it. */
export interface ForbiddenStep<State> {
  readonly why: string;
  readonly path: readonly LifeCycleStep[];
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
  readonly step?: LifeCycleStep;
  readonly from?: Node;
}

const DOMAIN = arg.of('a domain that defineDomain returned', (given) => {
  const { bind, rules } = (given ?? {}) as Partial<Domain>;
  return typeof bind === 'function' && Array.isArray(rules);
});
const LIFE = arg.members({
  domain: DOMAIN,
  initial: arg.any,
  at: arg.of('an instant', isInstant),
  depth: arg.whole,
  statesMax: arg.optional(arg.wholeFrom(1)),
  proposals: arg.code,
  allowed: arg.code,
  counselors: arg.optional(arg.record(arg.list(arg.text))),
});

/**
 * Walks the life cycle of a domain's subject (Agentic Redux §2.3). The kernel itself computes every
 * state that proposals lead to, approvals included, breadth first. The walk ends at the first step
 * that `allowed` forbids. No shorter walk reaches such a step. `ofLast` chooses the states from
 * which the last steps are tried. Most states are there.
 *
 * @throws ArgumentError `bad_argument`, also for a proposal that no writ could put: an unknown
 * action or role, or invalid arguments, and for an initial state that breaks a rule
 */
export function walkLifeCycle<State>(
  life: LifeCycle<State>,
  ofLast: <T>(reached: readonly T[]) => readonly T[] = (reached) => reached,
): LifeCycleWalk<State> {
  checkArgument(LIFE, life, 'life');
  checkArgument(arg.code, ofLast, 'ofLast');
  requireOwnDomain(life.domain);
  return new Walker(life, ofLast).walk();
}

class Walker<State> {
  readonly #life: LifeCycle<State>;
  readonly #ofLast: <T>(reached: readonly T[]) => readonly T[];
  readonly #committed: Record<string, number> = {};
  readonly #stopped: Record<string, number> = {};
  readonly #seen: Set<string> = new Set();
  #transitions = 0;

  constructor(life: LifeCycle<State>, ofLast: <T>(reached: readonly T[]) => readonly T[]) {
    this.#life = life;
    this.#ofLast = ofLast;
  }

  walk(): LifeCycleWalk<State> {
    const { initial, at, depth: depthMax } = this.#life;
    const first: Node = { state: copyJson(initial, WORLD_LIMITS), at };
    this.#seen.add(keyOf(first));
    let layer: readonly Node[] = [first];
    for (let depth = 0; depth < depthMax && layer.length > 0; depth++) {
      const next: Node[] = [];
      for (const node of depth === depthMax - 1 ? this.#ofLast(layer) : layer) {
        const counterexample = this.#stepFrom(node, next);
        if (counterexample !== undefined) return { ...this.#counts(false), counterexample };
        if (this.#isFull()) return this.#counts(false);
      }
      layer = next;
    }
    return this.#counts(true);
  }

  /** Adds the new states after `node` to `next`. */
  #stepFrom(node: Node, next: Node[]): ForbiddenStep<State> | undefined {
    const path = pathTo(node);
    for (const { step, state } of stepsFrom(this.#life, node, this.#stopped)) {
      this.#transitions++;
      count(this.#committed, step.action);
      const [before, after] = [node.state as State, state as State];
      const why = this.#life.allowed(before, step, after, path);
      if (why !== undefined) return { why, path: [...path, step], before, after };
      const reached: Node = { state, at: step.at, step, from: node };
      const key = keyOf(reached);
      if (this.#seen.has(key)) continue;
      this.#seen.add(key);
      next.push(reached);
      if (this.#isFull()) return undefined;
    }
    return undefined;
  }

  #isFull(): boolean {
    return this.#seen.size >= (this.#life.statesMax ?? Infinity);
  }

  #counts(complete: boolean): Omit<LifeCycleWalk<State>, 'counterexample'> {
    const [committed, stopped] = [this.#committed, this.#stopped];
    return {
      states: this.#seen.size,
      transitions: this.#transitions,
      complete,
      committed,
      stopped,
    };
  }
}

/**
 * The domain without some of its rules, to see that a walk finds the steps that the rules refuse.
 *
 * @throws ArgumentError `bad_argument` for a rule that the domain does not have
 */
export function domainWithout(
  domain: Domain<any, any, any>,
  ...ids: readonly string[]
): Domain<any, any, any> {
  checkArgument(DOMAIN, domain, 'domain');
  requireOwnDomain(domain);
  checkArgument(arg.list(arg.text), ids, 'ids');
  const rules = domain.rules.map(({ spec }) => spec);
  const unknown = ids.find((id) => !rules.some((rule) => rule.id === id));
  if (unknown !== undefined)
    throw wrong('ids', `names ${unknown}; ${domain.name} has no such rule`);
  const { declared } = domain;
  return defineDomain<any, any>({
    ...declared,
    invariants: rules.filter(({ id }) => !ids.includes(id)),
  });
}

/**
 * The states after each proposal that passes, alone or with an approval. Counts in `stopped` how
 * often each rule stops one.
 *
 * @throws ArgumentError `bad_argument` from `cannotBePut`, for a proposal that no writ could put
 */
export function* stepsFrom<State>(
  {
    domain,
    proposals,
    counselors = {},
  }: Pick<LifeCycle<State>, 'domain' | 'proposals' | 'counselors'>,
  node: { readonly state: Json; readonly at: Instant },
  stopped: Record<string, number>,
  cannotBePut: (problem: string) => void = refuse,
): Generator<{ readonly step: LifeCycleStep; readonly state: Json }> {
  const world = new World(domain, copyJson(node.state, WORLD_LIMITS) as never);
  const failing = world.failing.map(({ rule }) => rule.id);
  if (failing.length > 0)
    throw wrong('life.initial', `leads to a state that breaks ${failing.join(', ')}`);
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
        cannotBePut(`${step.action}, which cannot be put: ${ruling.reason}, ${ruling.detail}`);
      count(stopped, ruling.invariantId);
      continue;
    }
    count(stopped, ruling.invariantId);
    for (const principal of counselors[ruling.channel] ?? []) {
      const { approved, broken } = approve(world, step, ruling, principal);
      for (const id of broken) count(stopped, id);
      if (approved !== undefined)
        yield { step: { ...step, approvedBy: principal }, state: reached(approved) };
    }
  }
}

function refuse(problem: string): never {
  throw wrong('life.proposals', `returned ${problem}`);
}

/**
 * Approves an escalated proposal. If the approval fails, returns the rules that block it, and the
 * state is unchanged.
 */
function approve(
  world: World,
  step: LifeCycleStep,
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
    ...{
      patches,
      approval,
      channel,
      freezes,
      approvals,
      approvedBy,
      requesters: ['agent:walking'],
    },
  };
  try {
    return {
      approved: approvePending(world, waiting, { principal, at: step.at }, EVERYBODY),
      broken: [],
    };
  } catch (error) {
    if (!isInstance(error, KernelError) || error.code !== 'override_needed') throw error;
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

function pathTo(node: Node): LifeCycleStep[] {
  return node.from === undefined || node.step === undefined
    ? []
    : [...pathTo(node.from), node.step];
}

function wrong(argument: string, problem: string): ArgumentError {
  return new ArgumentError('bad_argument', `The argument ${argument} ${problem}.`, {
    evidence: { argument },
  });
}
