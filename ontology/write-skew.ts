import { arg, checkArgument, isAssizeError, type Json } from 'assize/internal/base';
import { canonicalize, copyJson, type Instant, isInstant, WORLD_LIMITS } from 'assize/internal/canon';
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
import { OntologyError } from './errors.ts';
import { mergeUnchecked } from './merge-unchecked.ts';
import { Choices } from './random.ts';
import { type Pool, poolOf, textNamed, valuesOf } from './values.ts';

export interface SkewOptions {
  /** The same seed, the same search. Default: 1 */
  readonly seed?: number;
  /** How many proposals one after the other lead to the states that are looked at. Default: 4 */
  readonly depth?: number;
  /** How many states of each depth are looked at. Default: 12 */
  readonly width?: number;
  /** How many proposals of each action are drawn on each state. Default: 40 */
  readonly tries?: number;
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
  };
}

const positive = arg.of('a whole number from 1', (value) => Number.isSafeInteger(value) && (value as number) >= 1);
const SKEW_OPTIONS = arg.members({
  seed: arg.optional(arg.whole),
  depth: arg.optional(arg.whole),
  width: arg.optional(positive),
  tries: arg.optional(positive),
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

/**
 * Searches for write skew by running the domain. From the initial state on, level by level, drawn
 * proposals that pass every invariant lead to further states. On each state the changes of any two
 * proposals are merged without adjudication. The existence of such a pair is undecidable in
 * general. An empty result holds within the bound, and no further.
 *
 * @throws ArgumentError `bad_argument`; OntologyError `bad_state`
 */
export function findWriteSkew(domain: Domain<any, any, any>, options: SkewOptions = {}): SkewSearch {
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

class Search {
  readonly #domain: Domain;
  readonly #options: Required<Omit<SkewOptions, 'states'>> & { readonly states: readonly unknown[] | undefined };
  readonly #choices: Choices;
  readonly #found: Map<string, SkewWitness> = new Map();
  readonly #drawArgs: ReadonlyMap<string, (choices: Choices, pool: Pool) => Json>;
  #states = 0;
  #proposals = 0;
  #pairs = 0;

  constructor(domain: Domain, options: SkewOptions) {
    this.#domain = domain;
    const { seed = 1, depth = 4, width = 12, tries = 40, states, proposals = [] } = options;
    const { at = '2026-06-01T12:00:00.000000Z' } = options;
    this.#options = { seed, depth, width, tries, states, proposals, at };
    this.#choices = new Choices(seed);
    this.#drawArgs = new Map(Object.entries(domain.actions).map(([name, { args }]) => [name, valuesOf(args)]));
  }

  run(): SkewSearch {
    const { seed, depth, width, tries } = this.#options;
    const seen = new Set<string>();
    let level = this.#beginnings();
    for (let step = 0; step <= depth && level.length > 0; step++) {
      const next: Json[] = [];
      for (const state of level) {
        seen.add(textOf(state));
        this.#states++;
        const steps = this.#stepsFrom(state);
        this.#compare(state, steps);
        next.push(...steps.map((one) => one.next));
      }
      const fresh = new Map(next.map((state) => [textOf(state), state] as const));
      for (const text of seen) fresh.delete(text);
      level = this.#choices.some([...fresh.values()], width);
    }
    const order = this.#domain.rules.map(({ id }) => id);
    const witnesses = [...this.#found.values()].sort(
      (a, b) => order.indexOf(a.invariantId) - order.indexOf(b.invariantId),
    );
    const bound = { seed, depth, width, tries, states: this.#states, proposals: this.#proposals, pairs: this.#pairs };
    return { witnesses, bound };
  }

  #beginnings(): Json[] {
    const given = this.#options.states ?? [undefined];
    return given.map((state) => {
      try {
        return initialState(this.#domain, state) as Json;
      } catch (cause) {
        if (!isAssizeError(cause)) throw cause;
        throw new OntologyError('bad_state', `The domain has no initial state: ${cause.message}`, { cause });
      }
    });
  }

  /** The possible changes of a state, each one distinct. */
  #stepsFrom(state: Json): Step[] {
    const world = new World(this.#domain, copyJson(state, WORLD_LIMITS) as never);
    if (world.failing.length > 0) return [];
    const pool = poolOf(state);
    const intents = [...this.#options.proposals, ...this.#drawn(pool)];
    const steps = new Map<string, Step>();
    for (const intent of intents) {
      const step = this.#take(world, intent);
      if (step === undefined) continue;
      const { role, action, changes } = step.proposal;
      steps.set(textOf([role, action, changes] as never), step);
    }
    return [...steps.values()];
  }

  *#drawn(pool: Pool): Iterable<Intent> {
    const choices = this.#choices;
    const { actions, roles } = this.#domain;
    for (const [action, { process }] of Object.entries(actions))
      for (const [name, { params = [], processes }] of Object.entries(roles)) {
        if (!processes.includes(process)) continue;
        for (let n = 0; n < this.#options.tries; n++) {
          const bound = params.map((param) => [param, textNamed(param, { choices, pool })]);
          const args = this.#drawArgs.get(action)?.(choices, pool) ?? null;
          yield { action, role: { name, params: Object.fromEntries(bound) }, args };
        }
      }
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
      if (changes.length === 0 || firstFinding(this.#domain, draft.state) !== undefined) return undefined;
      const { action, role } = intent;
      const proposal = { role, action, args: compiled.args, changes: copyJson(changes, WORLD_LIMITS) as never };
      return { proposal, next: copyJson(draft.state, WORLD_LIMITS) };
    } finally {
      world.rollback(draft);
    }
  }

  #compare(state: Json, steps: readonly Step[]): void {
    const paired = this.#choices.some(steps, PAIRED_MAX).map(({ proposal }) => proposal);
    for (const [i, first] of paired.entries())
      for (const second of paired.slice(i)) {
        this.#pairs++;
        for (const [one, other] of [
          [first, second],
          [second, first],
        ] as const)
          this.#judge(state, one, other);
      }
  }

  #judge(state: Json, first: SkewProposal, second: SkewProposal): void {
    if (first === second) return;
    const both = mergeUnchecked(state, first.changes, second.changes);
    if (both === undefined || stateFault(this.#domain.state, both) !== undefined) return;
    const finding = firstFinding(this.#domain, both as never);
    if (finding === undefined) return;
    for (const { invariant_id, result, detail = '' } of detectionVector(this.#domain, both as never)) {
      if (result === 'pass') continue;
      const known = this.#found.get(invariant_id);
      if (known !== undefined && (areTwo(known.first, known.second) || !areTwo(first, second))) continue;
      this.#found.set(invariant_id, { invariantId: invariant_id, detail, state, first, second });
    }
  }
}

/** Whether they belong to two workers: another role, or other parameters of the same role. */
function areTwo({ role: a }: SkewProposal, { role: b }: SkewProposal): boolean {
  return a.name !== b.name || textOf(a.params as Json) !== textOf(b.params as Json);
}

function textOf(value: Json): string {
  return canonicalize(value, WORLD_LIMITS);
}
