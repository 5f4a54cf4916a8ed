import { isAssizeError, isInstance, type Json } from 'assize/internal/base';
import { copyJson, type Instant, WORLD_LIMITS } from 'assize/internal/canon';
import {
  type Authority,
  adjudicate,
  approvePending,
  type Compiled,
  candidateOf,
  compile,
  counselorKind,
  type Domain,
  declaredCalls,
  defineDomain,
  detailOf,
  detectionVector,
  type Escalated,
  type Finding,
  failureIntent,
  firstFinding,
  type Intent,
  KernelError,
  overlaps,
  type Pattern,
  patchesOf,
  type Refusal,
  type Rule,
  stateFault,
  World,
} from 'assize/internal/kernel';
import type { Counterexample, ProblemKind } from './report.ts';
import { Stops } from './stops.ts';
import { type ForbiddenAct, Watch } from './watch.ts';

/** A proposal on a state. */
export interface Case {
  readonly state: Json;
  readonly action: string;
  readonly role: Intent['role'];
  readonly args: Json;
}

/** A problem that a case or state shows. */
export interface FoundProblem {
  readonly kind: ProblemKind;
  readonly where: string;
  readonly sentence: string;
  readonly detail?: string;
}

/** The result of a case other than its problems. */
export interface Trial {
  readonly found: readonly FoundProblem[];
  /**
   * The ruling. Undefined if there was none: the arguments do not fit, or the state violates a
   * rule.
   */
  readonly outcome: 'committed' | 'escalated' | 'rejected' | undefined;
  /** The reason for the refusal. */
  readonly refusal?: string;
  /** The invariant that refused the proposal. */
  readonly stoppedBy?: string;
  /** The resulting state; for an escalated proposal, the approved one. */
  readonly next?: Json;
  /** The result of the action, as text: the same inputs must give the same text. */
  readonly did?: string;
}

const EVERYBODY: Authority = {
  admits: () => ({ ok: true, needsApproval: false }),
  decides: () => undefined,
  affords: () => ({ ok: true }),
};
const REQUESTER = 'agent:checked';
const UNJUDGED = 'the check of the invariant failed: ';
const NONSENSE = [
  'the invariant did not return pass, reject or escalate',
  'the invariant returned a promise; make it synchronous',
];

/** A function of a domain that gets the state first. */
type OnState = (state: object, ...given: any[]) => unknown;

/** Runs cases and states through the kernel, with every function of the domain watched. */
export class Trials {
  readonly domain: Domain;
  readonly stops: Stops;
  readonly #watch: Watch = new Watch();
  readonly #at: Instant;
  /** The names to try as counselors. */
  readonly #names: readonly string[];
  /** Footprint pointers that some action touched, by process, as declared. */
  readonly #used: Set<string> = new Set();
  #touching: string[][] | undefined;

  constructor(domain: Domain, at: Instant, names: readonly string[]) {
    this.#at = at;
    this.#names = names;
    this.domain = this.#watched(domain);
    this.stops = new Stops(domain);
  }

  /**
   * Runs a whole proposal: the action twice, the kernel's ruling, and an approval if the proposal
   * escalates.
   */
  ofCase({ state, action, role, args }: Case): Trial {
    const { domain } = this;
    this.#watch.take();
    const world = new World(domain, copyJson(state, WORLD_LIMITS) as never);
    if (world.failing.length > 0) return { found: this.#watch.take(), outcome: undefined };
    this.#watch.take();
    const where = `action ${action}`;
    const intent = { action, role, args };
    const compiled = compile(domain, intent, EVERYBODY);
    if ('reason' in compiled) return { ...this.#refused(where, compiled), outcome: undefined };
    const inputs = { at: this.#at, observations: [] };
    const run = (): { did: string; naive?: Finding | undefined; refusal?: Refusal } => {
      const candidate = candidateOf(world, compiled, inputs);
      if ('reason' in candidate)
        return { did: `${candidate.reason}: ${candidate.detail}`, refusal: candidate };
      const { state: changed } = candidate.draft;
      const calls = declaredCalls(domain, compiled, changed, inputs);
      if ('reason' in calls) {
        world.rollback(candidate.draft);
        return { did: `${calls.reason}: ${calls.detail}`, refusal: calls };
      }
      const did = JSON.stringify([
        patchesOf(domain, changed, candidate.changes),
        compiled.cost,
        calls,
      ]);
      const naive = firstFinding(domain, changed, calls);
      world.rollback(candidate.draft);
      return { did, naive };
    };
    this.#touching = [];
    const first = run();
    this.#use(domain.actions[action]?.process as string, compiled.binding);
    const found: FoundProblem[] = this.#watch.take();
    const second = run();
    if (first.did !== second.did)
      found.push({
        kind: 'impure',
        where,
        sentence: `it gave two results for the same inputs: ${first.did}, then ${second.did}`,
      });
    if (first.refusal !== undefined) {
      const refused = this.#refused(where, first.refusal);
      return {
        ...refused,
        found: [...found, ...refused.found],
        outcome: 'rejected',
        did: first.did,
      };
    }
    const ruling = adjudicate(world, intent, EVERYBODY, inputs);
    found.push(...this.#watch.take());
    const said = ruling.verdict === 'approved' ? undefined : ruling.invariantId;
    const naive = first.naive?.rule;
    const fault =
      first.naive === undefined ? undefined : faultOf(first.naive.rule, detailOf(first.naive));
    if (fault !== undefined) found.push({ ...fault, where: `invariant ${naive?.id}` });
    if (ruling.verdict === 'rejected' && ruling.reason === 'precondition_failed') {
      const asked = naive === undefined ? where : `invariant ${naive.id}`;
      found.push({
        kind: 'approval_does_not_pass',
        where: asked,
        sentence: `the approval cannot be written: ${ruling.detail}`,
      });
    } else if (said !== naive?.id) {
      const rule = naive?.id ?? said;
      const sentence = `by the incremental check, the proposal is ${said === undefined ? 'approved' : `stopped by ${said}`}; by a full check of all rules, it is ${naive === undefined ? 'approved' : `stopped by ${rule}`}`;
      found.push({ kind: 'evaluation_differs', where: `invariant ${rule}`, sentence });
    }
    const stopped = said === undefined ? {} : { stoppedBy: said };
    if (ruling.verdict === 'rejected') {
      const refusal = `${said ?? ruling.reason}: ${ruling.detail}`;
      return { found, outcome: 'rejected', did: first.did, refusal, ...stopped };
    }
    if (ruling.verdict === 'escalated') {
      this.stops.note(ruling);
      const approved = this.#approved(world, intent, ruling);
      return {
        ...approved,
        found: [...found, ...approved.found],
        outcome: 'escalated',
        did: first.did,
        ...stopped,
      };
    }
    ruling.keep();
    found.push(...this.#failing(compiled));
    return {
      found,
      outcome: 'committed',
      did: first.did,
      next: copyJson(world.state, WORLD_LIMITS),
    };
  }

  /** Runs the `onFailure` of the action twice, and checks that its result can be proposed. */
  #failing({ name, args, role }: Compiled): FoundProblem[] {
    const action = this.domain.actions[name];
    if (action?.onFailure === undefined) return [];
    const where = `action ${name}`;
    const ask = (): ReturnType<typeof failureIntent> =>
      failureIntent(action, copyJson(args), role.params);
    const [said, again] = [ask(), ask()];
    const found = this.#watch.take();
    if ('fault' in said)
      return [...found, { kind: 'failure_not_proposed', where, sentence: said.fault }];
    if (JSON.stringify(said) !== JSON.stringify(again))
      found.push({
        kind: 'impure',
        where,
        sentence: 'its onFailure returned two results for the same arguments',
      });
    const { role: its = role } = said;
    const intent = {
      ...said,
      role: typeof its === 'string' ? { name: its, params: {} } : its,
    } as Intent;
    const compiled = compile(this.domain, intent, EVERYBODY);
    if ('reason' in compiled) {
      const sentence = `the proposal of its onFailure is refused, ${compiled.reason}: ${compiled.detail}`;
      found.push({ kind: 'failure_not_proposed', where, sentence });
    }
    return [...found, ...this.#watch.take()];
  }

  /** Whether an action of the process touched the path of a footprint pointer. */
  isUsed(process: string, pointer: string): boolean {
    return this.#used.has(`${process} ${pointer}`);
  }

  /** Every invariant on a state, twice, and on the same state with its keys in another order. */
  ofState(state: Json): { found: FoundProblem[]; vector: ReturnType<typeof detectionVector> } {
    this.#watch.take();
    const judged = (of: Json) => detectionVector(this.domain, copyJson(of, WORLD_LIMITS) as never);
    const vector = judged(state);
    const found: FoundProblem[] = this.#watch.take();
    const again = judged(state);
    const turned = judged(reversed(state));
    this.#watch.take();
    for (const [i, { invariant_id, detail = '' }] of vector.entries()) {
      const rule = this.domain.rules[i] as Rule;
      const where = `invariant ${invariant_id}`;
      const differs = ([a, b]: [unknown, unknown]): boolean =>
        JSON.stringify(a) !== JSON.stringify(b);
      const wording = (of: unknown): string => (of as { detail?: string }).detail ?? 'pass';
      if (differs([vector[i], again[i]])) {
        const sentence = `it returned two results for one state: ${wording(vector[i])}, then ${wording(again[i])}`;
        found.push({ kind: 'impure', where, sentence });
      } else if (differs([vector[i], turned[i]])) {
        const sentence = `its result depends on the order of keys: ${wording(turned[i])}`;
        found.push({ kind: 'key_order', where, sentence });
      }
      const fault = faultOf(rule, detail);
      if (fault !== undefined) found.push({ ...fault, where, detail });
    }
    return { found, vector };
  }

  /** Approves an escalated proposal, as a counselor of its channel. */
  #approved(
    world: World,
    intent: Intent,
    ruling: Escalated,
  ): { found: FoundProblem[]; next?: Json; refusal?: string } {
    const where =
      ruling.invariantId === undefined
        ? `action ${intent.action}`
        : `invariant ${ruling.invariantId}`;
    const refusal = `${ruling.invariantId}: ${ruling.detail}`;
    const { args } = ruling.compiled;
    const proposal = { ...intent, args };
    const principal = this.#counselorOf(ruling.channel, proposal);
    if (principal === undefined) {
      const sentence = `no counselor was found for the channel ${ruling.channel}; name one in the option \`counselors\``;
      return { found: [{ kind: 'no_counselor', where, sentence }], refusal };
    }
    const { patches, approval, channel, freezes, approvals } = ruling;
    const waiting = {
      intent: proposal,
      inputs: { at: this.#at, observations: [] },
      ...(ruling.invariantId === undefined ? {} : { invariantId: ruling.invariantId }),
      ...{ patches, approval, channel, freezes, approvals, requesters: [REQUESTER] },
    };
    const others = Array.from({ length: approvals - 1 }, (_, i) => ({
      principal: `${principal}, ${i + 2}`,
      at: this.#at,
    }));
    const approve = (approvedBy: typeof others) =>
      approvePending(world, { ...waiting, approvedBy }, { principal, at: this.#at }, EVERYBODY);
    try {
      // Each approver decides on what the earlier ones have marked. The last one commits.
      for (const [given] of others.entries()) approve(others.slice(0, given)).undo();
      approve(others).keep();
      return { found: this.#watch.take(), next: copyJson(world.state, WORLD_LIMITS), refusal };
    } catch (error) {
      if (!isInstance(error, KernelError)) throw error;
      const kind = error.code === 'changed_since' ? 'approval_differs' : 'approval_does_not_pass';
      const vector = (error.evidence?.['vector'] ?? []) as readonly {
        invariant_id: string;
        detail?: string;
      }[];
      const why = vector
        .map(({ invariant_id, detail }) => `${invariant_id} says: ${detail}`)
        .join('; ');
      const after = approvals === 1 ? `the approval by ${principal}` : `${approvals} approvals`;
      const sentence = ['override_needed', 'final_rule'].includes(error.code)
        ? `after ${after} it still does not pass, ${why}; let onApprove write the approval where the invariant reads it`
        : `it cannot be approved: ${error.message}`;
      return { found: [...this.#watch.take(), { kind, where, sentence }], refusal };
    }
  }

  #counselorOf(channel: string, proposal: Intent): string | undefined {
    return this.#names.find((name) => {
      try {
        return counselorKind(this.domain, channel, name, [REQUESTER], proposal) !== '';
      } catch (error) {
        if (isAssizeError(error, 'unauthorised_counselor')) return false;
        throw error;
      }
    });
  }

  /**
   * The problems that a refusal shows. A precondition that fails with a readable message shows
   * none.
   */
  #refused(where: string, { reason, detail }: Refusal): { found: FoundProblem[]; refusal: string } {
    const found: FoundProblem[] = this.#watch.take();
    if (reason === 'invalid_authority')
      found.push({
        kind: 'outside_footprint',
        where,
        sentence: `it leaves its footprint: ${detail}`,
      });
    if (
      reason === 'type_mismatch' &&
      detail.startsWith('the result of ') &&
      !found.some(({ kind }) => kind === 'asynchronous')
    )
      found.push({ kind: 'bad_result', where, sentence: detail });
    return { found, refusal: `${reason}: ${detail}` };
  }

  #watched(domain: Domain): Domain {
    const over = (where: string, of: object, data?: Readonly<Record<string, number>>): object =>
      Object.fromEntries(
        Object.entries(of).map(([name, member]) => [
          name,
          typeof member === 'function'
            ? this.#watch.over(where, member, { data: data?.[name], refuses: data !== undefined })
            : member,
        ]),
      );
    const actions = Object.entries(
      domain.declared.actions as Record<
        string,
        { readonly apply: OnState; readonly calls?: OnState }
      >,
    ).map(([name, action]) => {
      const seen = (state: object): object =>
        this.#touching === undefined ? state : traced(state, [], this.#touching);
      const apply: OnState = (state, ...rest) => action.apply(seen(state), ...rest);
      const calls: OnState | undefined =
        action.calls && ((state, ...rest) => action.calls!(seen(state), ...rest));
      return [
        name,
        over(
          `action ${name}`,
          { ...action, apply, ...(calls && { calls }) },
          { apply: 1, calls: 1, onApprove: 1, cost: 0, scopes: 0, onFailure: 0 },
        ),
      ];
    });
    const invariants = domain.rules.map(({ id, spec }) => over(`invariant ${id}`, spec));
    return defineDomain<any, any>({
      ...domain.declared,
      actions: Object.fromEntries(actions),
      invariants: invariants as never,
    });
  }

  #use(
    process: string,
    binding: { readonly reads: readonly Pattern[]; readonly writes: readonly Pattern[] },
  ): void {
    const touched = this.#touching ?? [];
    this.#touching = undefined;
    for (const way of ['reads', 'writes'] as const) {
      for (const [i, pattern] of binding[way].entries()) {
        const met = touched.some(
          (segments) =>
            segments.length >= pattern.segments.length &&
            overlaps(pattern, { segments, append: false }),
        );
        if (met) this.#used.add(`${process} ${this.domain.processes[process]?.[way]?.[i]}`);
      }
    }
  }
}

/** The fault of an invariant, derived from the kernel's message. */
function faultOf(rule: Rule, detail: string): Pick<FoundProblem, 'kind' | 'sentence'> | undefined {
  // The message has the item before the rule's words.
  const at = detail.indexOf(UNJUDGED);
  if (at >= 0) {
    const what = detail.slice(at + UNJUDGED.length);
    if (what.startsWith('it threw: '))
      return { kind: 'throws', sentence: `it throws: ${what.slice('it threw: '.length)}` };
    if (what.endsWith(' is read-only here'))
      return { kind: 'writes_state', sentence: `it writes to the state: ${what}` };
    return rule.spec.kind === 'each'
      ? {
          kind: 'with_outside_reads',
          sentence: `it is checked with data that its \`reads\` do not name: ${what}`,
        }
      : {
          kind: 'outside_footprint',
          sentence: `it reads data that its footprint does not name: ${what}`,
        };
  }
  return NONSENSE.some((each) => detail.endsWith(each))
    ? { kind: 'nonsense', sentence: 'it answers neither pass, reject nor escalate' }
    : undefined;
}

/** The same state, with the keys of each object in reverse order. */
function reversed(value: Json): Json {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, member]) => [key, reversed(member)]),
  );
}

/** Records each path of the state that is read or written. */
function traced<T extends object>(value: T, path: readonly string[], touched: string[][]): T {
  const at = (name: string | symbol): string[] => {
    const place = [...path, String(name)];
    if (typeof name === 'string') touched.push(place);
    return place;
  };
  return new Proxy(value, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'object' || member === null) {
        if (typeof member !== 'function') at(name);
        return member;
      }
      return traced(member, at(name), touched);
    },
    set: (target, name, member) => {
      at(name);
      return Reflect.set(target, name, member);
    },
    ownKeys: (target) => {
      at('*');
      return Reflect.ownKeys(target);
    },
    deleteProperty: (target, name) => {
      at(name);
      return Reflect.deleteProperty(target, name);
    },
  });
}

/** Whether the schema accepts a state. */
export function fits(domain: Domain, state: unknown): boolean {
  return stateFault(domain.state, state) === undefined;
}

export function exampleOf({ state, action, role, args }: Case): Counterexample {
  return { state, action, role, args };
}

export type { ForbiddenAct };
