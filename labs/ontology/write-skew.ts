import { arg, checkArgument, isAssizeError, type Json } from 'assize/internal/base';
import {
  canonicalize,
  copyJson,
  escapeSegment,
  type Instant,
  isInstant,
  WORLD_LIMITS,
} from 'assize/internal/canon';
import {
  type Authority,
  candidateOf,
  compile,
  type Domain,
  detectionVector,
  firstFinding,
  type Intent,
  initialState,
  type PatchOperation,
  patchesOf,
  requireOwnDomain,
  stateFault,
  World,
} from 'assize/internal/kernel';
import { Choices, ProposalDrawer } from '../architectures/draw/index.ts';
import { OntologyError } from './errors.ts';
import { mergeUnchecked } from './merge-unchecked.ts';

export interface SkewOptions {
  /** The same seed, the same search. Default: 1 */
  readonly seed?: number;
  /** How many proposals one after the other lead to the states that are looked at. Default: 4 */
  readonly depth?: number;
  /** How many states of each depth are looked at. Default: 12 */
  readonly width?: number;
  /** How many proposals of each action are drawn on each state. Default: 40 */
  readonly tries?: number;
  /**
   * How many further states are looked at for the rules that nothing was found for. Each is a
   * reached state with one other number, so that a limit is near. Default: `width`, or 0 with a
   * `depth` of 0
   */
  readonly nearby?: number;
  /** States to begin with instead of the domain's initial one. */
  readonly states?: readonly unknown[];
  /**
   * Proposals for every state, in addition to the drawn ones. For domains in which values drawn
   * from the schema do not lead far.
   */
  readonly proposals?: readonly Intent[];
  /** The time of the proposals. Default: 2026-06-01T12:00:00.000000Z */
  readonly at?: Instant;
}

export interface SkewProposal {
  readonly role: Intent['role'];
  readonly action: string;
  readonly args: Json;
  readonly changes: readonly PatchOperation[];
}

/** Two proposals that may each stand by themselves, and not together (Definition A.11). */
export interface SkewWitness {
  readonly invariantId: string;
  readonly detail: string;
  readonly state: Json;
  /**
   * Whether proposals lead to the state from one to begin with. Otherwise it is a reached state
   * with one other number. All rules hold in it. This suffices by the definition.
   */
  readonly reached: boolean;
  readonly first: SkewProposal;
  readonly second: SkewProposal;
}

export interface SkewSearch {
  /**
   * At most one witness for each invariant, in the order of the invariants. A pair of two roles, or
   * of one role with different parameters, is preferred.
   */
  readonly witnesses: readonly SkewWitness[];
  /** Within what nothing else was found. */
  readonly bound: {
    readonly seed: number;
    readonly depth: number;
    readonly width: number;
    readonly tries: number;
    readonly states: number;
    readonly proposals: number;
    readonly pairs: number;
    /** States with one other number, in addition; not counted above. */
    readonly nearby: number;
  };
}

const positive = arg.of(
  'a whole number from 1',
  (value) => Number.isSafeInteger(value) && (value as number) >= 1,
);
const SKEW_OPTIONS = arg.members({
  seed: arg.optional(arg.whole),
  depth: arg.optional(arg.whole),
  width: arg.optional(positive),
  tries: arg.optional(positive),
  nearby: arg.optional(arg.whole),
  states: arg.optional(arg.list(arg.any)),
  proposals: arg.optional(arg.list(arg.object)),
  at: arg.optional(arg.of('an instant', isInstant)),
});
const DOMAIN = arg.of('a domain that defineDomain returned', (value) => {
  const { bind, rules, actions } = (value ?? {}) as Partial<Domain>;
  return typeof bind === 'function' && Array.isArray(rules) && typeof actions === 'object';
});

/** Proposals of one state that are compared with each other. */
const PAIRED_MAX = 24;
/** Candidates for each nearby state: a rule or the schema refuses some. */
const NEARBY_TRIES = 8;
/** Numbers that bring a limit near. */
const NEAR = [0, 1, 2] as const;

/**
 * Searches for write skew by running the domain. From the initial state on, level by level, drawn
 * proposals that pass every invariant lead to further states. On each state the changes of any two
 * proposals are merged without adjudication. The existence of such a pair is undecidable in
 * general. An empty result holds within the bound, and no further.
 *
 * @throws ArgumentError `bad_argument`; OntologyError `bad_state`
 */
export function findWriteSkew(
  domain: Domain<any, any, any>,
  options: SkewOptions = {},
): SkewSearch {
  checkArgument(DOMAIN, domain, 'domain');
  requireOwnDomain(domain);
  checkArgument(SKEW_OPTIONS, options, 'options');
  return new Search(domain, options).run();
}

const EVERYBODY: Authority = {
  admits: () => ({ ok: true, needsApproval: false }),
  decides: () => undefined,
  affords: () => ({ ok: true }),
};

interface Step {
  readonly proposal: SkewProposal;
  readonly next: Json;
}

/** A state, and the actions that led to it. */
interface Visited {
  readonly state: Json;
  readonly done: readonly string[];
}

class Search {
  readonly #domain: Domain;
  readonly #options: Required<Omit<SkewOptions, 'states'>> & {
    readonly states: readonly unknown[] | undefined;
  };
  readonly #choices: Choices;
  readonly #found: Map<string, SkewWitness> = new Map();
  readonly #drawer: ProposalDrawer;
  readonly #reached: Set<string> = new Set();
  #states = 0;
  #proposals = 0;
  #pairs = 0;

  constructor(domain: Domain, options: SkewOptions) {
    this.#domain = domain;
    const { seed = 1, depth = 4, width = 12, tries = 40, states, proposals = [] } = options;
    const { at = '2026-06-01T12:00:00.000000Z' } = options;
    const { nearby = depth === 0 ? 0 : width } = options;
    this.#options = { seed, depth, width, tries, nearby, states, proposals, at };
    this.#choices = new Choices(seed);
    this.#drawer = new ProposalDrawer(domain);
  }

  run(): SkewSearch {
    const { seed, depth, width, tries } = this.#options;
    const seen: Set<string> = this.#reached;
    let level: Visited[] = this.#beginnings().map((state) => ({ state, done: [] }));
    for (let step = 0; step <= depth && level.length > 0; step++) {
      const next: Visited[] = [];
      for (const { state, done } of level) {
        seen.add(textOf(state));
        this.#states++;
        const steps = this.#stepsFrom(state);
        this.#compare({ state, reached: true }, steps);
        next.push(
          ...steps.map(({ proposal: { action }, next }) => ({
            state: next,
            done: [...done, action],
          })),
        );
      }
      const fresh = new Map(next.map((one) => [textOf(one.state), one] as const));
      for (const text of seen) fresh.delete(text);
      level = this.#varied([...fresh.values()], width);
    }
    const [proposals, pairs] = [this.#proposals, this.#pairs];
    const nearby = this.#lookNearby();
    const order = this.#domain.rules.map(({ id }) => id);
    const witnesses = [...this.#found.values()].sort(
      (a, b) => order.indexOf(a.invariantId) - order.indexOf(b.invariantId),
    );
    const bound = { seed, depth, width, tries, states: this.#states, proposals, pairs, nearby };
    return { witnesses, bound };
  }

  /**
   * Takes `count` of the states, in turn from the groups of states after the same actions. States
   * after many different actions come first, because there most other actions are possible.
   */
  #varied(states: readonly Visited[], count: number): Visited[] {
    const groups = Map.groupBy(states, ({ done }) => [...new Set(done)].sort().join('\n'));
    const longestFirst = [...groups].sort(
      ([a], [b]) => b.split('\n').length - a.split('\n').length,
    );
    return this.#inTurn(
      longestFirst.map(([, group]) => group),
      count,
    );
  }

  /** Takes `count` items, one of each group in turn. */
  #inTurn<T>(groups: readonly (readonly T[])[], count: number): T[] {
    const queues = groups.map((group) => this.#choices.some(group, count));
    const chosen: T[] = [];
    for (let i = 0; i < count; i++)
      for (const queue of queues) chosen.push(...queue.slice(i, i + 1));
    return chosen.slice(0, count);
  }

  /** The number of looked-at states. A rule with a witness on a reached state keeps it. */
  #lookNearby(): number {
    const { nearby } = this.#options;
    if (nearby === 0 || this.#found.size === this.#domain.rules.length) return 0;
    const some = this.#choices
      .some([...this.#reached], nearby)
      .map((text) => JSON.parse(text) as Json);
    const made = new Map(
      some.flatMap((state) => [...withOtherNumbers(state)]).map((state) => [textOf(state), state]),
    );
    for (const text of this.#reached) made.delete(text);
    const sound = this.#choices
      .some([...made.values()], nearby * NEARBY_TRIES)
      .filter(
        (state) =>
          stateFault(this.#domain.state, state) === undefined &&
          firstFinding(this.#domain, state as never) === undefined,
      );
    const states = this.#choices.some(sound, nearby);
    for (const state of states) this.#compare({ state, reached: false }, this.#stepsFrom(state));
    return states.length;
  }

  #beginnings(): Json[] {
    const given = this.#options.states ?? [undefined];
    return given.map((state) => {
      try {
        return initialState(this.#domain, state) as Json;
      } catch (cause) {
        if (!isAssizeError(cause)) throw cause;
        throw new OntologyError('bad_state', `The domain has no initial state: ${cause.message}`, {
          cause,
        });
      }
    });
  }

  /** The possible changes of a state, each one distinct. */
  #stepsFrom(state: Json): Step[] {
    const world = new World(this.#domain, copyJson(state, WORLD_LIMITS) as never);
    if (world.failing.length > 0) return [];
    const drawn = this.#drawer.each(state, this.#choices, this.#options.tries);
    const intents = [...this.#options.proposals, ...drawn];
    const steps = new Map<string, Step>();
    for (const intent of intents) {
      const step = this.#take(world, intent);
      if (step === undefined) continue;
      const { role, action, changes } = step.proposal;
      steps.set(textOf([role, action, changes] as never), step);
    }
    return [...steps.values()];
  }

  /**
   * The changes of a proposal that passes every invariant. Undefined for a proposal that is refused
   * or changes nothing.
   */
  #take(world: World, intent: Intent): Step | undefined {
    this.#proposals++;
    const compiled = compile(this.#domain, intent, EVERYBODY);
    if ('reason' in compiled) return undefined;
    const candidate = candidateOf(world, compiled, { at: this.#options.at, observations: [] });
    if ('reason' in candidate) return undefined;
    const { draft } = candidate;
    try {
      const changes = patchesOf(this.#domain, draft.state, candidate.changes);
      if (changes.length === 0 || firstFinding(this.#domain, draft.state) !== undefined)
        return undefined;
      const { action, role } = intent;
      const proposal = {
        role,
        action,
        args: compiled.args,
        changes: copyJson(changes, WORLD_LIMITS) as never,
      };
      return { proposal, next: copyJson(draft.state, WORLD_LIMITS) };
    } finally {
      world.rollback(draft);
    }
  }

  #compare(on: Pick<SkewWitness, 'state' | 'reached'>, steps: readonly Step[]): void {
    const byAction = Map.groupBy(steps, ({ proposal: { action } }) => action);
    const paired = this.#inTurn([...byAction.values()], PAIRED_MAX).map(({ proposal }) => proposal);
    for (const [i, first] of paired.entries())
      for (const second of paired.slice(i)) {
        this.#pairs++;
        for (const [one, other] of [
          [first, second],
          [second, first],
        ] as const)
          this.#judge(on, one, other);
      }
  }

  #judge(
    on: Pick<SkewWitness, 'state' | 'reached'>,
    first: SkewProposal,
    second: SkewProposal,
  ): void {
    if (first === second) return;
    const both = mergeUnchecked(on.state, first.changes, second.changes);
    if (both === undefined || stateFault(this.#domain.state, both) !== undefined) return;
    const finding = firstFinding(this.#domain, both as never);
    if (finding === undefined) return;
    for (const { invariant_id, result, detail = '' } of detectionVector(
      this.#domain,
      both as never,
    )) {
      if (result === 'pass') continue;
      const known = this.#found.get(invariant_id);
      if (known?.reached === true && !on.reached) continue;
      if (known !== undefined && (areTwo(known.first, known.second) || !areTwo(first, second)))
        continue;
      this.#found.set(invariant_id, { invariantId: invariant_id, detail, ...on, first, second });
    }
  }
}

/** The state with one of its numbers replaced, for each number and each near value. */
function* withOtherNumbers(state: Json): Iterable<Json> {
  for (const [path, value] of numbersOf(state, ''))
    for (const near of NEAR) {
      if (near === value) continue;
      const other = mergeUnchecked(state, [{ op: 'replace', path, value: near }], []);
      if (other !== undefined) yield other;
    }
}

function* numbersOf(value: Json, path: string): Iterable<readonly [path: string, value: number]> {
  if (typeof value === 'number') yield [path, value];
  else if (typeof value === 'object' && value !== null)
    for (const [key, member] of Object.entries(value))
      yield* numbersOf(member as Json, `${path}/${escapeSegment(key)}`);
}

/** Whether they belong to two workers: another role, or other parameters of the same role. */
function areTwo({ role: a }: SkewProposal, { role: b }: SkewProposal): boolean {
  return a.name !== b.name || textOf(a.params as Json) !== textOf(b.params as Json);
}

function textOf(value: Json): string {
  return canonicalize(value, WORLD_LIMITS);
}
