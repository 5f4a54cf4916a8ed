import { isAssizeError, type Json } from '#base';
import { canonicalize, copyJson, toPointer, WORLD_LIMITS } from '#canon';
import type { Change } from '../domain/change.ts';
import { metBy } from '../domain/define-domain.ts';
import type { Binding, Domain, Rule } from '../domain/domain.ts';
import type { Instant } from '../domain/domain-spec.ts';
import type { Pattern } from '../domain/footprint.ts';
import { Draft } from '../state/draft.ts';
import { Sight } from '../state/member-view.ts';
import { type Keys, meets, membersUnder, NO_KEYS, Places } from '../state/members.ts';
import type { Container } from '../state/view.ts';
import { type Inputs, type Outcome, outcomeOf } from './candidate.ts';
import { type Judgement, judge } from './check-rule.ts';
import { compile } from './compile.ts';
import type { Authority, Compiled, Intent } from './compiled.ts';
import { readBy } from './full-check.ts';

/**
 * What a proposal's `apply` does to a state, and what rules say of the result: worked out on a copy of the world, before the
 * proposal's turn. Data only, so that it can come from another thread.
 */
export interface Foreseen {
  readonly at: Instant;
  /** The arguments after parsing, in canonical text. */
  readonly args: string;
  readonly outcome: Outcome;
  readonly judged: readonly ForeseenJudgement[];
}

interface ForeseenJudgement extends Judgement {
  /** The rule's place in the order. */
  readonly rule: number;
  readonly keys: Keys;
}

/** What was foreseen, and where the world has changed since from the state that it was foreseen on. */
export interface Expected {
  readonly foreseen: Foreseen;
  readonly since: readonly Keys[];
}

/**
 * Foresees a proposal; the state is as before when this returns. Undefined for one that does not compile, which costs nothing
 * to find out in its turn, or that makes what can't be handed over. Who may do it is not asked.
 */
export function foresee(domain: Domain, state: Container, intent: Intent, inputs: Inputs): Foreseen | undefined {
  const compiled = compile(domain, intent, ANYBODY);
  if ('reason' in compiled) return undefined;
  const draft = new Draft(state, undefined);
  try {
    const outcome = outcomeOf(draft, compiled, inputs);
    const judged = 'changes' in outcome ? judgedAfter(domain, draft.state, outcome.changes) : [];
    const args = canonicalize(compiled.args, WORLD_LIMITS);
    return { at: inputs.at, args, outcome: copied(outcome), judged };
  } catch (error) {
    // Put together, values may be deeper than each that was put in.
    if (isAssizeError(error)) return undefined;
    throw error;
  } finally {
    draft.undo();
  }
}

const ANYBODY: Authority = {
  admits: () => ({ ok: true, needsApproval: false }),
  decides: () => undefined,
  affords: () => ({ ok: true }),
};

/**
 * All that what is foreseen of a proposal depends on: what `apply` may read or write, and what the rules read that are
 * foreseen. As long as nothing is changed there, all of it holds.
 */
export function foreseenFrom(domain: Domain, { reads, writes }: Binding): readonly Pattern[] {
  const rules = domain.rules.filter(isForeseen);
  return [...reads, ...writes, ...rules.flatMap((rule) => metBy(rule, writes))];
}

/** Rules that have something counted cost little in their turn, and depend on all that is counted. */
function isForeseen(rule: Rule): boolean {
  return rule.tallies.length === 0;
}

/** The values are those of the state, which goes on. */
function copied(outcome: Outcome): Outcome {
  if (!('changes' in outcome)) return outcome;
  return {
    changes: outcome.changes.map((change) =>
      change.value === undefined ? change : { ...change, value: copyJson(change.value, WORLD_LIMITS) as Json },
    ),
  };
}

/**
 * Judges, in order, the rules that changes meet directly, up to the first that does not pass. Places that are judged with
 * others, which changed, are not among them: only who follows all judgements knows which these are.
 */
function judgedAfter(domain: Domain, state: Container, changes: readonly Change[]): ForeseenJudgement[] {
  const places: (Places | undefined)[] = [];
  for (const { keys } of changes) {
    domain.rulesByPath.match(keys, (rule) => {
      if (!isForeseen(rule)) return;
      const met = rule.member === undefined ? [NO_KEYS] : membersUnder(rule.member, state, keys);
      for (const place of met) {
        const known = places[rule.index];
        if (known === undefined) places[rule.index] = new Places(place);
        else known.add(place);
      }
    });
  }
  const judged: ForeseenJudgement[] = [];
  const sight = new Sight(state);
  for (const rule of domain.rules) {
    for (const keys of places[rule.index]?.inOrder() ?? []) {
      const { result, others } = judge(rule, state, keys, sight, []);
      // Only what is asked for is kept: a rule may answer with more, and not all of that can be sent.
      const said = result.result === 'pass' ? result : { result: result.result, detail: result.detail };
      judged.push({ rule: rule.index, keys, result: said, ...(others === undefined ? {} : { others }) });
      if (result.result !== 'pass') return judged;
    }
  }
  return judged;
}

/** What was foreseen and still holds in the proposal's turn, because nothing that it depends on has changed. */
export class Known {
  readonly outcome: Outcome;
  readonly #judged: Map<string, Judgement> = new Map();
  readonly #since: readonly Keys[];

  /** Undefined where `apply` might do something else now. */
  static of(expected: Expected | undefined, compiled: Compiled, inputs: Inputs): Known | undefined {
    if (expected === undefined) return undefined;
    const { foreseen, since } = expected;
    const { reads, writes } = compiled.binding;
    if (foreseen.at !== inputs.at || isMet(reads, since) || isMet(writes, since)) return undefined;
    // A schema may parse the same arguments to others each time.
    return foreseen.args === canonicalize(compiled.args, WORLD_LIMITS) ? new Known(expected) : undefined;
  }

  private constructor({ foreseen, since }: Expected) {
    this.outcome = foreseen.outcome;
    this.#since = since;
    for (const judged of foreseen.judged) this.#judged.set(nameOf(judged.rule, judged.keys), judged);
  }

  /** What a rule says at one place after the changes; undefined where that has to be asked again. */
  judgement(rule: Rule, keys: Keys): Judgement | undefined {
    const judgement = this.#judged.get(nameOf(rule.index, keys));
    return judgement === undefined || isMet(readBy({ rule, keys }), this.#since) ? undefined : judgement;
  }
}

function nameOf(rule: number, keys: Keys): string {
  return `${rule}${toPointer(keys)}`;
}

function isMet(patterns: readonly Pattern[], paths: readonly Keys[]): boolean {
  return patterns.some((pattern) => paths.some((path) => meets(pattern, path)));
}
