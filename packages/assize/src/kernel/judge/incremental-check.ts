import { parsePointer, toPointer } from '#canon';
import type { ProposedCall } from '../domain/call.ts';
import type { Change } from '../domain/change.ts';
import type { Domain, Rule } from '../domain/domain.ts';
import type { Pattern } from '../domain/footprint.ts';
import { type Keys, NO_KEYS } from '../domain/keys.ts';
import { PatternIndex } from '../domain/pattern-index.ts';
import type { AggregatePlan } from '../domain/tally-plan.ts';
import { MemberViewCache } from '../state/member-view.ts';
import { MemberSet, membersUnder, nameOf, overlapsPattern } from '../state/members.ts';
import type { Container } from '../state/view.ts';
import {
  type Aggregate,
  type ContributionRow,
  type ContributionTable,
  StagedAggregate,
  UNCHANGED,
} from './aggregates.ts';
import { aggregatesOf, callPlaces, checkRule, placesOf, readAt } from './check-rule.ts';
import type { Finding, RuleResult } from './finding.ts';
import { findings } from './full-check.ts';

/** The changes of a reverse index by an approved proposal. Applied when the candidate is kept. */
interface ReverseIndexUpdate {
  readonly rule: Rule;
  readonly place: Keys;
  readonly others: readonly string[];
}

/** A changed path. `parent` is the container's own path, as in the changes of a candidate. */
type ChangedPath = Pick<Change, 'keys'> & Partial<Pick<Change, 'parent'>>;

/**
 * The results of the rules on the current state: the failing rules, the places that read other
 * places, and the figures of rules over whole collections. Skipping a rule is sound only because of
 * this. A rule that passed still passes if its footprint did not change
 * (docs/decisions/007-incremental-checks.md).
 */
export class IncrementalCheck {
  /**
   * Rules, or their members and groups, that do not pass now. Every proposal checks them until they
   * pass.
   */
  readonly failing: Map<string, Finding> = new Map();
  /** Failing places that block no proposal until a change touches them. */
  readonly #excused: Set<string> = new Set();
  readonly #domain: Domain;
  readonly #isStrict: boolean;
  readonly #dependents: Map<Rule, Dependents> = new Map();
  /** By the rule's index. */
  #tallies: readonly (readonly Aggregate[])[] = [];

  /** `strict`: every proposal is checked naively on everything. */
  constructor(domain: Domain, isStrict: boolean) {
    this.#domain = domain;
    this.#isStrict = isStrict;
    for (const rule of domain.rules) {
      if (rule.spec.kind !== 'eachCall' && 'with' in rule.spec && rule.spec.with !== undefined)
        this.#dependents.set(rule, new Dependents());
    }
  }

  /** Checks every rule on the whole state and starts again from the result. */
  restart(state: Container): void {
    this.failing.clear();
    for (const dependents of this.#dependents.values()) dependents.clear();
    const sight = new MemberViewCache(state);
    const rows = new Map<Pattern, ContributionTable>();
    this.#tallies = this.#domain.rules.map((rule) => aggregatesOf(rule, state, sight, rows));
    for (const rule of this.#domain.rules) {
      const tallies = this.#talliesOf(rule);
      for (const keys of placesOf(rule, state, tallies, NO_CALLS)) {
        const { result, others } = checkRule(rule, state, keys, sight, tallies, NO_CALLS);
        if (others !== undefined) this.#dependents.get(rule)?.set(toPointer(keys), others);
        const key = findingKey(rule, keys);
        if (result.result !== 'pass' && !this.#excused.has(key))
          this.failing.set(key, { rule, keys, result });
      }
    }
  }

  /** Excuses the failing places for which the function returns true. */
  excuse(isExcused: (finding: Finding) => boolean): void {
    for (const [key, finding] of this.failing) {
      if (!isExcused(finding)) continue;
      this.failing.delete(key);
      this.#excused.add(key);
    }
  }

  /**
   * The first rule, in order, that does not pass on the changed state. Checks only the places that
   * the changes touch, the places that did not pass before, and the calls of the proposal. Call
   * `keep` if the change stays. `found`: the findings of that rule at all its places.
   */
  checkChanges(
    state: Container,
    changes: readonly ChangedPath[],
    calls: readonly ProposedCall[] = NO_CALLS,
  ): {
    readonly finding: Finding | undefined;
    readonly found: readonly Finding[];
    readonly keep: () => void;
  } {
    if (this.#isStrict) return this.#judgeAll(state, changes, calls);
    const restatements: ReverseIndexUpdate[] = [];
    const sight = new MemberViewCache(state);
    const work = this.#workFor(state, changes, sight);
    work.judgeCalls(calls);
    for (const rule of this.#domain.rules) {
      const places = work.places[rule.index];
      if (places === undefined) continue;
      const tallies = work.staged[rule.index] ?? this.#talliesOf(rule);
      const found: Finding[] = [];
      for (const keys of places.inOrder()) {
        const { result, others } = checkRule(rule, state, keys, sight, tallies, calls);
        if (result.result !== 'pass') found.push({ rule, keys, result });
        else if (others !== undefined && this.#dependents.has(rule))
          restatements.push({ rule, place: keys, others });
      }
      if (found.length > 0) return { finding: found[0], found, keep: NOTHING_TO_KEEP };
    }
    return {
      finding: undefined,
      found: [],
      keep: () => {
        // Clearing an empty map would rebuild it.
        if (this.failing.size > 0) this.failing.clear();
        if (this.#excused.size > 0) for (const key of work.keys()) this.#excused.delete(key);
        for (const { rule, place, others } of restatements)
          this.#dependents.get(rule)?.set(toPointer(place), others);
        work.keepCounts();
      },
    };
  }

  /**
   * Every finding on a changed state, in order, at the places that `checkChanges` checks without
   * calls. Keeps nothing.
   */
  findingsAfter(state: Container, changes: readonly ChangedPath[]): Finding[] {
    if (this.#isStrict)
      return [...findings(this.#domain, state)].filter(
        ({ rule, keys }) => !this.#excused.has(findingKey(rule, keys)),
      );
    const sight = new MemberViewCache(state);
    const work = this.#workFor(state, changes, sight);
    return this.#domain.rules.flatMap((rule) => {
      const tallies = work.staged[rule.index] ?? this.#talliesOf(rule);
      return (work.places[rule.index]?.inOrder() ?? []).flatMap((keys): Finding[] => {
        const { result } = checkRule(rule, state, keys, sight, tallies, NO_CALLS);
        return result.result === 'pass' ? [] : [{ rule, keys, result }];
      });
    });
  }

  /** The figures that the changes move, by rule and index, each with the sign of its difference. */
  shiftsOf(state: Container, changes: readonly ChangedPath[]): ReadonlyMap<string, number> {
    const work = this.#workFor(state, changes, new MemberViewCache(state));
    const shifts = new Map<string, number>();
    for (const { index } of this.#domain.rules)
      work.staged[index]?.forEach((tally, slot) => {
        for (const [figure, sign] of tally.shifts()) shifts.set(`${index} ${slot} ${figure}`, sign);
      });
    return shifts;
  }

  /**
   * All paths that the rules read to check a changed state. For members and groups with `with`,
   * only the places that they name.
   */
  readBy(
    state: Container,
    changes: readonly ChangedPath[],
    calls: readonly ProposedCall[] = NO_CALLS,
  ): Pattern[] {
    const sight = new MemberViewCache(state);
    const work = this.#workFor(state, changes, sight);
    work.judgeCalls(calls);
    return this.#domain.rules.flatMap((rule) =>
      (work.places[rule.index]?.inOrder() ?? []).flatMap((keys) =>
        readAt(rule, keys, sight, calls),
      ),
    );
  }

  #judgeAll(
    state: Container,
    changes: readonly ChangedPath[],
    calls: readonly ProposedCall[],
  ): ReturnType<IncrementalCheck['checkChanges']> {
    // Touched places lose their excuse: a check of these changes alone would check them.
    const touched = new Set(
      this.#excused.size === 0
        ? []
        : this.#workFor(state, changes, new MemberViewCache(state)).keys(),
    );
    const isExcused = (key: string): boolean => this.#excused.has(key) && !touched.has(key);
    const all = [...findings(this.#domain, state, calls)].filter(
      ({ rule, keys }) => !isExcused(findingKey(rule, keys)),
    );
    return {
      finding: all[0],
      found: all.filter(({ rule }) => rule === all[0]?.rule),
      keep: () => {
        for (const key of touched) this.#excused.delete(key);
        this.restart(state);
      },
    };
  }

  /**
   * Continues with a committed state, regardless of the rules' results. Checks all touched places
   * and all places that did not pass before, and returns each result. For replay. Proposals are
   * checked by `checkChanges`.
   */
  follow(state: Container, changes: readonly ChangedPath[]): RuleResult[] {
    const judged: RuleResult[] = [];
    const sight = new MemberViewCache(state);
    const work = this.#workFor(state, changes, sight);
    work.keepCounts();
    for (const rule of this.#domain.rules) {
      for (const keys of work.places[rule.index]?.inOrder() ?? []) {
        const { result, others } = checkRule(
          rule,
          state,
          keys,
          sight,
          this.#talliesOf(rule),
          NO_CALLS,
        );
        if (others !== undefined) this.#dependents.get(rule)?.set(toPointer(keys), others);
        this.#excused.delete(findingKey(rule, keys));
        if (result.result === 'pass') this.failing.delete(findingKey(rule, keys));
        else this.failing.set(findingKey(rule, keys), { rule, keys, result });
        judged.push({ rule, keys, result });
      }
    }
    return judged;
  }

  #talliesOf(rule: Rule): readonly Aggregate[] {
    return this.#tallies[rule.index] ?? NO_TALLIES;
  }

  #workFor(
    state: Container,
    changes: readonly ChangedPath[],
    sight: MemberViewCache,
  ): PendingChecks {
    const work = new PendingChecks(this.#domain.rules, this.#tallies, state, sight);
    for (const path of this.#pathsOf(changes)) {
      work.along(path, this.#domain.rulesByPath);
      for (const [rule, dependents] of this.#dependents)
        dependents.match(path, (keys) => work.judgeAt(rule, keys));
    }
    for (const { rule, keys } of this.failing.values()) work.judgeAt(rule, keys);
    return work;
  }

  /**
   * The changed paths without equivalents: changes next to each other, deeper than any rule reads,
   * count once.
   */
  #pathsOf(changes: readonly ChangedPath[]): (readonly string[])[] {
    let deepest = this.#domain.rulesByPath.depth;
    for (const { depth } of this.#dependents.values()) deepest = Math.max(deepest, depth);
    const paths: (readonly string[])[] = [];
    let before: readonly string[] | undefined;
    for (const { keys, parent } of changes) {
      if (parent !== undefined && parent === before && parent.length >= deepest) continue;
      before = parent;
      paths.push(keys);
    }
    return paths;
  }
}

const NO_TALLIES: readonly Aggregate[] = [];
const NO_CALLS: readonly ProposedCall[] = [];
const NOTHING_TO_KEEP = (): void => {};

/** The work for a set of changes, by the rule's index: the places to check and the new counts. */
class PendingChecks {
  readonly places: (MemberSet | undefined)[];
  readonly staged: (readonly StagedAggregate[] | undefined)[];
  readonly #rules: readonly Rule[];
  readonly #tallies: readonly (readonly Aggregate[])[];
  readonly #state: Container;
  readonly #sight: MemberViewCache;
  #lookedIn: ContributionTable | undefined;
  #lookedFor: Keys | undefined;
  #found: ContributionRow | undefined;

  constructor(
    rules: readonly Rule[],
    tallies: readonly (readonly Aggregate[])[],
    state: Container,
    sight: MemberViewCache,
  ) {
    this.places = new Array(rules.length);
    this.staged = new Array(rules.length);
    this.#rules = rules;
    this.#tallies = tallies;
    this.#state = state;
    this.#sight = sight;
  }

  /** Adds the calls of a proposal, each for the rules that judge it. */
  judgeCalls(calls: readonly ProposedCall[]): void {
    if (calls.length === 0) return;
    for (const rule of this.#rules)
      if (rule.spec.kind === 'eachCall')
        for (const keys of callPlaces(rule, calls)) this.judgeAt(rule, keys);
  }

  judgeAt(rule: Rule, keys: Keys): void {
    const places = this.places[rule.index];
    if (places === undefined) this.places[rule.index] = new MemberSet(keys);
    else places.add(keys);
  }

  /** The rules and members on a changed path. Rules of one path share the same members. */
  along(path: readonly string[], rulesByPath: PatternIndex<Rule>): void {
    let members: readonly Keys[] = [];
    let of: Pattern | undefined;
    const membersAt = (pattern: Pattern): readonly Keys[] => {
      if (of === pattern) return members;
      of = pattern;
      members = membersUnder(pattern, this.#state, path);
      return members;
    };
    rulesByPath.match(path, (rule) => {
      if (rule.spec.kind === 'plain') this.judgeAt(rule, NO_KEYS);
      else if (rule.member !== undefined)
        for (const keys of membersAt(rule.member)) this.judgeAt(rule, keys);
      for (let slot = 0; slot < rule.aggregates.length; slot++) {
        const { path: pattern } = rule.aggregates[slot] as AggregatePlan;
        if (!overlapsPattern(pattern, path)) continue;
        for (const keys of membersAt(pattern)) this.#count(rule, slot, keys);
        // A collection that was replaced or removed may have lost members that the state no longer
        // leads to.
        if (path.length < pattern.segments.length)
          for (const keys of this.#tally(rule, slot).rows.under(pattern, path))
            this.#count(rule, slot, keys);
      }
    });
  }

  /** The checked places, named like findings. */
  keys(): string[] {
    return this.#rules.flatMap((rule) =>
      (this.places[rule.index]?.inOrder() ?? []).map((keys) => findingKey(rule, keys)),
    );
  }

  /** Makes the staged counts current. */
  keepCounts(): void {
    for (let i = 0; i < this.staged.length; i++)
      for (const tally of this.staged[i] ?? NO_STAGED) tally.keep();
  }

  /** Recounts a member, once. For a rule over groups, the changed groups are checked. */
  #count(rule: Rule, slot: number, keys: Keys): void {
    const tally = this.#tally(rule, slot);
    const name = nameOf(keys);
    if (this.staged[rule.index]?.[slot]?.has(name) === true) return;
    const row = this.#row(tally.rows, keys);
    const now = tally.recount(row, this.#sight.member(tally.plan.path, keys), keys);
    if (now === UNCHANGED) return;
    this.staged[rule.index] ??= this.#tallies[rule.index]?.map(
      (counted) => new StagedAggregate(counted),
    );
    this.staged[rule.index]?.[slot]?.change(
      name,
      { keys, before: tally.read(row), now },
      (group) => {
        if (rule.spec.kind !== 'plain') this.judgeAt(rule, group === undefined ? NO_KEYS : [group]);
      },
    );
  }

  /** One lookup for all tallies of a collection. The rules of a collection are consecutive. */
  #row(rows: ContributionTable, keys: Keys): ContributionRow | undefined {
    if (this.#lookedIn !== rows || this.#lookedFor !== keys) {
      this.#lookedIn = rows;
      this.#lookedFor = keys;
      this.#found = rows.of(keys);
    }
    return this.#found;
  }

  #tally(rule: Rule, slot: number): Aggregate {
    return this.#tallies[rule.index]?.[slot] as Aggregate;
  }
}

const NO_STAGED: readonly StagedAggregate[] = [];

/** The places of a rule by the other places that their check read. */
class Dependents {
  readonly #others: Map<string, readonly string[]> = new Map();
  readonly #places: PatternIndex<string> = new PatternIndex();

  /** Length of the longest path so far. */
  get depth(): number {
    return this.#places.depth;
  }

  clear(): void {
    for (const place of [...this.#others.keys()]) this.set(place, []);
  }

  set(place: string, others: readonly string[]): void {
    const before = this.#others.get(place) ?? [];
    if (before.length === others.length && before.every((other, i) => other === others[i])) return;
    for (const other of before) this.#places.remove(pointerPattern(other), place);
    for (const other of others) this.#places.add(pointerPattern(other), place);
    if (others.length === 0) this.#others.delete(place);
    else this.#others.set(place, others);
  }

  match(path: readonly string[], found: (place: Keys) => void): void {
    this.#places.match(path, (place) => found(Object.freeze(parsePointer(place))));
  }
}

function findingKey(rule: Rule, keys: Keys): string {
  return `${rule.index}${toPointer(keys)}`;
}

function pointerPattern(pointer: string): Pattern {
  return { segments: parsePointer(pointer), append: false };
}
