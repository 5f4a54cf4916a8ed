import { parsePointer, toPointer } from '#canon';
import type { Change } from './changes.ts';
import type { Domain, Rule } from './define-domain.ts';
import { FootprintFault, messageOf, sentence } from './errors.ts';
import { ANY, EVERYTHING, type Pattern, scopeAt } from './footprint.ts';
import type { EachInvariant, PlainInvariant } from './invariant.ts';
import { PatternIndex } from './pattern-index.ts';
import { type InvariantResult, pass, reject } from './result.ts';
import { type Container, view } from './view.ts';

/** A rule that does not pass, for `each` with the member. */
export interface Finding {
  readonly rule: Rule;
  /** What the stars stand for; empty for a plain rule. */
  readonly keys: readonly string[];
  readonly result: Exclude<InvariantResult, { result: 'pass' }>;
}

/** What a rule says of the state, for `each` of one member. */
export interface Judged {
  readonly rule: Rule;
  readonly keys: readonly string[];
  readonly result: InvariantResult;
}

/** What an approved change does to the reverse indexes; applied when the candidate is kept. */
interface Restatement {
  readonly rule: Rule;
  readonly member: string;
  readonly others: readonly string[];
}

/**
 * What is known of the rules on the current state: which do not pass, and which members of `each` rules read which
 * other places. Skipping a rule is sound only because of it: a rule that passed before and whose footprint did not
 * change passes still (decisions §2.2).
 */
export class Standing {
  /** Rules, or members, that do not pass now; they are judged on every proposal until they do. */
  readonly failing: Map<string, Finding> = new Map();
  readonly #dependents: Map<Rule, Dependents> = new Map();
  readonly #domain: Domain;

  constructor(domain: Domain) {
    this.#domain = domain;
    for (const rule of domain.rules) {
      if (rule.spec.kind === 'each' && rule.spec.with !== undefined) this.#dependents.set(rule, new Dependents());
    }
  }

  /** Judges every rule on the whole state and starts anew from that. */
  restart(state: Container): void {
    this.failing.clear();
    for (const dependents of this.#dependents.values()) dependents.clear();
    const sight = new Sight();
    for (const rule of this.#domain.rules) {
      for (const keys of placesOf(rule, state)) {
        const { result, others } = judge(rule, state, keys, sight);
        if (others !== undefined) this.#dependents.get(rule)?.set(toPointer(keys), others);
        if (result.result !== 'pass') this.failing.set(findingKey(rule, keys), { rule, keys, result });
      }
    }
  }

  /**
   * The first rule, in order, that does not pass on the changed state; judges only rules and members that the
   * changes touch, and those that did not pass before. `keep` must be called if the change stays.
   */
  judgeChanges(state: Container, changes: readonly Change[]): { finding: Finding | undefined; keep: () => void } {
    const restatements: Restatement[] = [];
    const work = this.#workFor(state, changes);
    const sight = new Sight();
    for (const rule of this.#domain.rules) {
      const places = work[rule.index];
      if (places === undefined) continue;
      for (const keys of places.inOrder()) {
        const { result, others } = judge(rule, state, keys, sight);
        if (result.result !== 'pass') return { finding: { rule, keys, result }, keep: () => {} };
        if (others !== undefined) restatements.push({ rule, member: toPointer(keys), others });
      }
    }
    return {
      finding: undefined,
      keep: () => {
        // To clear what is empty would make it anew.
        if (this.failing.size > 0) this.failing.clear();
        for (const { rule, member, others } of restatements) this.#dependents.get(rule)?.set(member, others);
      },
    };
  }

  /**
   * Goes on with a state that was committed, whatever the rules say of it: judges all that the changes touch and all that
   * did not pass before, and answers with each result. For replay; proposals are judged by `judgeChanges`.
   */
  follow(state: Container, changes: readonly Pick<Change, 'keys'>[]): Judged[] {
    const judged: Judged[] = [];
    const work = this.#workFor(state, changes);
    const sight = new Sight();
    for (const rule of this.#domain.rules) {
      for (const keys of work[rule.index]?.inOrder() ?? []) {
        const { result, others } = judge(rule, state, keys, sight);
        if (others !== undefined) this.#dependents.get(rule)?.set(toPointer(keys), others);
        if (result.result === 'pass') this.failing.delete(findingKey(rule, keys));
        else this.failing.set(findingKey(rule, keys), { rule, keys, result });
        judged.push({ rule, keys, result });
      }
    }
    return judged;
  }

  /** Where each rule is to be judged, by the rule's index. */
  #workFor(state: Container, changes: readonly Pick<Change, 'keys'>[]): (Places | undefined)[] {
    const work: (Places | undefined)[] = new Array(this.#domain.rules.length);
    const add = (rule: Rule, keys: readonly string[]): void => {
      const places = work[rule.index];
      if (places === undefined) work[rule.index] = new Places(keys);
      else places.add(keys);
    };
    for (const { keys } of changes) {
      this.#domain.rulesByPath.match(keys, (rule) => {
        if (rule.member === undefined) add(rule, NO_KEYS);
        else if (!work[rule.index]?.isOnly(rule.member, keys)) {
          for (const member of membersUnder(rule.member, state, keys)) add(rule, member);
        }
      });
      for (const [rule, dependents] of this.#dependents) dependents.match(keys, (member) => add(rule, member));
    }
    for (const { rule, keys } of this.failing.values()) add(rule, keys);
    return work;
  }
}

/** Members of one rule, each once. Mostly there is one. */
class Places {
  readonly #first: readonly string[];
  #all: Map<string, readonly string[]> | undefined;

  constructor(first: readonly string[]) {
    this.#first = first;
  }

  /** Whether the member that a path leads to, or into, is the one and only that is here: changes come member by member. */
  isOnly({ segments }: Pattern, path: readonly string[]): boolean {
    if (this.#all !== undefined || path.length < segments.length) return false;
    let star = 0;
    for (let i = 0; i < segments.length; i++) {
      if (segments[i] === ANY && path[i] !== this.#first[star++]) return false;
    }
    return true;
  }

  add(keys: readonly string[]): void {
    if (this.#all === undefined && isSame(keys, this.#first)) return;
    this.#all ??= new Map([[nameOf(this.#first), this.#first]]);
    this.#all.set(nameOf(keys), keys);
  }

  /** The order in which `placesOf` would have them. */
  inOrder(): readonly (readonly string[])[] {
    return this.#all === undefined ? [this.#first] : [...this.#all.values()].sort(byKeys);
  }
}

function isSame(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && byKeys(a, b) === 0;
}

const NO_KEYS: readonly string[] = [];

/** Tells the members of one rule apart; most have one star, whose key will do. */
function nameOf(keys: readonly string[]): string {
  return keys.length === 1 ? (keys[0] as string) : toPointer(keys);
}

function byKeys(a: readonly string[], b: readonly string[]): number {
  for (let i = 0; i < a.length; i++) {
    const left = a[i] as string;
    const right = b[i] as string;
    if (left !== right) return left < right ? -1 : 1;
  }
  return 0;
}

/** The first rule, in order, that does not pass, judged naively on everything. The oracle of the tests. */
export function firstFinding(domain: Domain, state: Container): Finding | undefined {
  const sight = new Sight();
  for (const rule of domain.rules) {
    for (const keys of placesOf(rule, state)) {
      const { result } = judge(rule, state, keys, sight);
      if (result.result !== 'pass') return { rule, keys, result };
    }
  }
  return undefined;
}

/** Every rule's result on a state, in order: the detection vector (seed 000, Definition A.63). */
export function detectionVector(
  domain: Domain,
  state: Container,
): { invariant_id: string; result: InvariantResult['result']; detail?: string }[] {
  const sight = new Sight();
  return domain.rules.map((rule) => {
    for (const keys of placesOf(rule, state)) {
      const { result } = judge(rule, state, keys, sight);
      if (result.result !== 'pass')
        return { invariant_id: rule.id, result: result.result, detail: detailOf({ rule, keys, result }) };
    }
    return { invariant_id: rule.id, result: 'pass' };
  });
}

/** The rule's own words, with the member they are about. */
export function detailOf({ rule, keys, result }: Finding): string {
  return sentence(rule.member === undefined ? result.detail : `${placeOf(rule.member, keys)}: ${result.detail}`);
}

/** What a rule read to find what it found: of an `each` rule the one member, and all that it may be judged with. */
export function readBy({ rule, keys }: Pick<Finding, 'rule' | 'keys'>): readonly Pattern[] {
  if (rule.member === undefined) return rule.patterns;
  return [{ segments: memberKeys(rule.member, keys), append: false }, ...rule.patterns.slice(1)];
}

/** Which members of an `each` rule read which other places. */
class Dependents {
  readonly #others: Map<string, readonly string[]> = new Map();
  readonly #members: PatternIndex<string> = new PatternIndex();

  clear(): void {
    for (const member of [...this.#others.keys()]) this.set(member, []);
  }

  set(member: string, others: readonly string[]): void {
    const before = this.#others.get(member) ?? [];
    if (before.length === others.length && before.every((other, i) => other === others[i])) return;
    for (const other of before) this.#members.remove(pointerPattern(other), member);
    for (const other of others) this.#members.add(pointerPattern(other), member);
    if (others.length === 0) this.#others.delete(member);
    else this.#others.set(member, others);
  }

  match(path: readonly string[], found: (member: readonly string[]) => void): void {
    this.#members.match(path, (member) => found(parsePointer(member)));
  }
}

/** Where a rule is to be judged: once for a plain one, once a member for `each`, in the order of the keys. */
function placesOf(rule: Rule, state: Container): readonly (readonly string[])[] {
  return rule.member === undefined ? [NO_KEYS] : membersUnder(rule.member, state, NO_KEYS);
}

/** The members (by what their stars stand for) that lie under a path, or the one that lies above it. */
function membersUnder({ segments }: Pattern, state: Container, path: readonly string[]): (readonly string[])[] {
  if (path.length >= segments.length) {
    // It may be gone: then it is judged as absent, which passes, and its index entries go.
    return [path.filter((_, i) => segments[i] === ANY)];
  }
  const found: (readonly string[])[] = [];
  collect(state, 0, NO_KEYS);
  return found;

  function collect(here: unknown, depth: number, keys: readonly string[]): void {
    if (depth === segments.length) {
      found.push(keys);
      return;
    }
    if (typeof here !== 'object' || here === null) return;
    const segment = segments[depth] as string | typeof ANY;
    const named = depth < path.length ? (path[depth] as string) : segment;
    const names = named === ANY ? Object.keys(here).sort() : [named];
    for (const name of names) {
      if (!Object.hasOwn(here, name)) continue;
      collect((here as Record<string, unknown>)[name], depth + 1, segment === ANY ? [...keys, name] : keys);
    }
  }
}

interface Judgement {
  readonly result: InvariantResult;
  /** For `each` with `with`: the places read beside the member. */
  readonly others?: readonly string[];
}

function judge(rule: Rule, state: Container, keys: readonly string[], sight: Sight): Judgement {
  try {
    return rule.spec.kind === 'plain'
      ? { result: judgePlain(rule.spec, rule, state) }
      : judgeMember(rule.spec, rule, state, keys, sight);
  } catch (error) {
    // Fail closed: a rule that can't be judged does not pass.
    const what = error instanceof FootprintFault ? error.message : `it threw: ${messageOf(error)}`;
    return { result: reject(`the invariant can't be judged, ${what}`), others: [] };
  }
}

function judgePlain(spec: PlainInvariant<any>, rule: Rule, state: Container): InvariantResult {
  return wellFormed(spec.check(view(state, rule.scope)));
}

function judgeMember(
  spec: EachInvariant<any>,
  rule: Rule,
  state: Container,
  keys: readonly string[],
  sight: Sight,
): Judgement {
  const member = lookup(state, memberKeys(rule.member as Pattern, keys));
  const indexed = spec.with === undefined ? {} : { others: [] as string[] };
  if (member === undefined) return { result: pass, ...indexed };
  const seen = sight.seen(member);
  if (spec.with === undefined) return { result: wellFormed(spec.check(seen, {}, keys)) };
  const pointers = spec.with(seen, keys);
  const others: Record<string, unknown> = Object.create(null);
  for (const [name, pointer] of Object.entries(pointers)) {
    const path = parsePointer(pointer);
    if (!covered(rule, path)) throw new FootprintFault(pointer, 'read');
    others[name] = sight.seen(lookup(state, path));
  }
  return { result: wellFormed(spec.check(seen, others, keys)), others: Object.values(pointers) };
}

/** How a judgement sees values: several rules look at one member in a row, and get the same view. */
class Sight {
  #of: object | undefined;
  #view: Container | undefined;

  seen(value: unknown): unknown {
    if (typeof value !== 'object' || value === null) return value;
    if (this.#of !== value) {
      this.#of = value;
      this.#view = view(value as Container, EVERYTHING);
    }
    return this.#view;
  }
}

function covered(rule: Rule, path: readonly string[]): boolean {
  let scope: typeof rule.scope | undefined = rule.scope;
  for (const key of path) {
    if (scope.all) return true;
    scope = scopeAt(scope, key);
    if (scope === undefined) return false;
  }
  return scope.all;
}

/** A rule that answers anything but the three results does not pass. */
function wellFormed(result: InvariantResult): InvariantResult {
  // Whatever an asynchronous rule does later must not end the process.
  if (result instanceof Promise) result.then(undefined, () => undefined);
  if (result?.result === 'pass') return pass;
  if ((result?.result === 'reject' || result?.result === 'escalate') && typeof result.detail === 'string')
    return result;
  return reject('the invariant answered neither pass, reject nor escalate');
}

function lookup(state: unknown, keys: readonly string[]): unknown {
  let here = state;
  for (const key of keys) {
    if (typeof here !== 'object' || here === null || !Object.hasOwn(here, key)) return undefined;
    here = (here as Record<string, unknown>)[key];
  }
  return here;
}

function memberKeys(member: Pattern, keys: readonly string[]): string[] {
  let star = 0;
  return member.segments.map((segment) => (segment === ANY ? (keys[star++] as string) : segment));
}

function placeOf(member: Pattern, keys: readonly string[]): string {
  return toPointer(memberKeys(member, keys));
}

function findingKey(rule: Rule, keys: readonly string[]): string {
  return `${rule.index}${toPointer(keys)}`;
}

function pointerPattern(pointer: string): Pattern {
  return { segments: parsePointer(pointer), append: false };
}
