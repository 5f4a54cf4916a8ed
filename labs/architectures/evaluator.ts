import { deepFreeze, type Json, LruCache } from 'assize/internal/base';
import { canonicalize, copyJson, type Instant, WORLD_LIMITS } from 'assize/internal/canon';
import {
  type Authority,
  candidateOf,
  compile,
  type Domain,
  detectionVector,
  type Intent,
  World,
} from 'assize/internal/kernel';
import type { BrokenRule, Evaluation } from './architecture.ts';

/** No writ limits an agent here. The comparison is about the rules of the domain. */
const EVERYTHING_ALLOWED: Authority = {
  admits: () => ({ ok: true, needsApproval: false }),
  decides: () => undefined,
  affords: () => ({ ok: true }),
};

/** The most states that are kept with their evaluations. */
const STATES_MAX = 256;

/** A state with what is known about it. */
interface Known {
  readonly text: string;
  readonly world: World;
  readonly evaluations: Map<string, Evaluation>;
  failing?: readonly BrokenRule[];
}

/** Evaluates proposals on states, each pair once. The kernel computes and checks each candidate. */
export class Evaluator {
  readonly domain: Domain;
  readonly #at: Instant;
  readonly #byText: LruCache<Known> = new LruCache(STATES_MAX);
  readonly #byState: WeakMap<object, Known> = new WeakMap();

  constructor(domain: Domain, at: Instant) {
    this.domain = domain;
    this.#at = at;
  }

  /** The candidate of a proposal with its broken rules, or the refusal. The state stays. */
  evaluate(state: Json, { action, role, args }: Intent): Evaluation {
    const { world, evaluations } = this.#known(state);
    const key = textOf([action, role as unknown as Json, args]);
    const evaluation = evaluations.get(key) ?? this.#evaluated(world, { action, role, args });
    evaluations.set(key, evaluation);
    return evaluation;
  }

  /** Whether every rule passes on the state that the proposal leads to. */
  isValid(state: Json, intent: Intent): boolean {
    const evaluation = this.evaluate(state, intent);
    return !('refused' in evaluation) && evaluation.broken.length === 0;
  }

  /** The rules that do not pass on a state. */
  failing(state: Json): readonly BrokenRule[] {
    const known = this.#known(state);
    known.failing ??= this.#brokenIn(known.world.state as Json);
    return known.failing;
  }

  /** The slice of a state that a role sees. */
  slice(state: Json, { name, params }: Intent['role']): unknown {
    return this.#known(state).world.slice(name, params);
  }

  /** The canonical text of a state. */
  textOf(state: Json): string {
    return this.#known(state).text;
  }

  #known(state: Json): Known {
    const seen = this.#byState.get(state as object);
    if (seen !== undefined) return seen;
    const text = textOf(state);
    const known = this.#byText.get(text, () => ({
      text,
      world: new World(this.domain, copyJson(state, WORLD_LIMITS) as never),
      evaluations: new Map(),
    }));
    this.#byState.set(state as object, known);
    return known;
  }

  #evaluated(world: World, intent: Intent): Evaluation {
    const compiled = compile(this.domain, intent, EVERYTHING_ALLOWED);
    if ('reason' in compiled)
      return { refused: { reason: compiled.reason, detail: compiled.detail } };
    const candidate = candidateOf(world, compiled, { at: this.#at, observations: [] });
    if ('reason' in candidate)
      return { refused: { reason: candidate.reason, detail: candidate.detail } };
    const { draft } = candidate;
    try {
      const broken = this.#brokenIn(draft.state as Json);
      return { candidate: deepFreeze(copyJson(draft.state, WORLD_LIMITS)), broken };
    } finally {
      world.rollback(draft);
    }
  }

  #brokenIn(state: Json): readonly BrokenRule[] {
    return detectionVector(this.domain, state as never)
      .filter(({ result }) => result !== 'pass')
      .map(({ invariant_id: rule, detail = '' }) => ({ rule, detail }));
  }
}

function textOf(value: Json): string {
  return canonicalize(value, WORLD_LIMITS);
}
