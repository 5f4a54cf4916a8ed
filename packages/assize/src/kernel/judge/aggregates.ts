import { isInstance, isUnwantedPromise } from '#base';
import { ANY, type Pattern } from '../domain/footprint.ts';
import type { Counts } from '../domain/invariant.ts';
import { type Keys, NO_KEYS } from '../domain/keys.ts';
import type { AggregatePlan } from '../domain/tally-plan.ts';
import { FootprintFault, messageOf } from '../errors.ts';
import type { MemberViewCache } from '../state/member-view.ts';
import { byKeys, keysOf, membersUnder, nameOf, placeOf } from '../state/members.ts';
import { SmallMap } from '../state/small-map.ts';

/** The contribution of one member to its group. */
interface Share {
  readonly by: unknown;
  readonly group: string;
  readonly amount: number;
}

/** A member that cannot be counted, and the reason. */
class UncountableMember {
  readonly keys: Keys;
  readonly why: string;

  constructor(keys: Keys, why: string) {
    this.keys = keys;
    this.why = why;
  }
}

/** The contribution of a member, if it is counted. */
export type Contribution = Share | UncountableMember | undefined;

/**
 * The figures of one group, immutable. A sum is a number while it is a safe integer, and so exact.
 */
interface Group {
  readonly count: number;
  readonly sum: number | bigint;
}

/** The read interface of a tally: of the current one, or of a candidate's. */
export abstract class AggregateView {
  abstract readonly plan: AggregatePlan;
  abstract group(name: string): Group | undefined;
  abstract uncountable(): ReadonlyMap<string, UncountableMember>;
  /** The members of a group, by name, if names are stored. */
  abstract namesOf(group: string): Iterable<string>;

  count(group: string = ''): number {
    this.#sound();
    return this.group(group)?.count ?? 0;
  }

  sum(group: string = ''): number {
    const { name, amount } = this.plan;
    if (amount === undefined) throw new Error(`the index ${name} has no amount to sum; add \`of\``);
    this.#sound();
    return this.sumOfCounted(group);
  }

  /**
   * The sum of the members that can be counted.
   *
   * @throws Error beyond 2^53 − 1
   */
  sumOfCounted(group: string): number {
    const { sum } = this.group(group) ?? NOBODY;
    if (typeof sum === 'bigint') throw new Error(`the sum ${sum} is beyond 2^53 - 1`);
    return sum;
  }

  /** The places of the members of a group, in order. */
  places(group: string): readonly string[] {
    const { path } = this.plan;
    const members = Array.from(this.namesOf(group), (name) => keysOf(path, name));
    return members.sort(byKeys).map((keys) => placeOf(path, keys));
  }

  /**
   * The reason why the figures omit members: the first member, in order, that cannot be counted.
   */
  fault(): string | undefined {
    const unfit = this.uncountable();
    if (unfit.size === 0) return undefined;
    const [first] = [...unfit.values()].sort((a, b) => byKeys(a.keys, b.keys)) as [
      UncountableMember,
    ];
    return `${placeOf(this.plan.path, first.keys)} cannot be counted: ${first.why}`;
  }

  #sound(): void {
    const fault = this.fault();
    if (fault !== undefined) throw new Error(fault);
  }
}

/** The figures that a rule reads. They give no way to the tally itself. */
export class ReadOnlyCounts implements Counts {
  readonly #tally: AggregateView;

  constructor(tally: AggregateView) {
    this.#tally = tally;
  }

  count(group?: string): number {
    return this.#tally.count(group);
  }

  sum(group?: string): number {
    return this.#tally.sum(group);
  }
}

/**
 * A member's contribution to each tally of its collection, two slots each: the value that selects
 * the group, and the amount.
 */
export type ContributionRow = readonly unknown[];

/** Rows by the members' keys, one level per star. */
type Branch = Map<string, Branch | unknown[]>;

/**
 * The contributions of the members of one collection. Its tallies share them. A member's row is
 * flat, because memory that was not read recently dominates the time in a large collection.
 */
export class ContributionTable {
  readonly #root: Branch = new Map();
  #slots: number = 0;

  newSlot(): number {
    return this.#slots++;
  }

  of(keys: Keys): ContributionRow | undefined {
    let here: Branch | ContributionRow | undefined = this.#root;
    for (let i = 0; i < keys.length; i++) {
      here = (here as Branch).get(keys[i] as string);
      if (here === undefined) return undefined;
    }
    return here as ContributionRow;
  }

  write(keys: Keys, slot: number, now: Contribution): void {
    let row = this.of(keys) as unknown[] | undefined;
    if (row === undefined) {
      row = new Array<unknown>(this.#slots * 2).fill(undefined);
      plant(this.#root, keys, row);
    }
    row[slot * 2] = now instanceof UncountableMember ? now : now?.by;
    row[slot * 2 + 1] = now instanceof UncountableMember ? undefined : now?.amount;
    if (now === undefined && row.every((one) => one === undefined)) prune(this.#root, keys, 0);
  }

  /** The members with paths under this one. The cost follows their number. */
  under({ segments }: Pattern, path: readonly string[]): Keys[] {
    const named = segments.flatMap((segment, i) => (segment === ANY ? [path[i]] : []));
    const found: Keys[] = [];
    collect(this.#root, named, NO_KEYS, found);
    return found;
  }
}

function plant(root: Branch, keys: Keys, row: unknown[]): void {
  let here = root;
  for (let i = 0; i < keys.length - 1; i++) {
    let next = here.get(keys[i] as string) as Branch | undefined;
    if (next === undefined) {
      next = new Map();
      here.set(keys[i] as string, next);
    }
    here = next;
  }
  here.set(keys.at(-1) as string, row);
}

function prune(here: Branch, keys: Keys, depth: number): void {
  const key = keys[depth] as string;
  if (depth < keys.length - 1) {
    const below = here.get(key) as Branch;
    prune(below, keys, depth + 1);
    if (below.size > 0) return;
  }
  here.delete(key);
}

/** `named`: the keys of the stars that a path has. */
function collect(
  here: Branch,
  named: readonly (string | undefined)[],
  keys: Keys,
  found: Keys[],
): void {
  const key = named[keys.length];
  for (const name of key === undefined ? here.keys() : [key]) {
    const below = here.get(name);
    if (below === undefined) continue;
    if (keys.length === named.length - 1) found.push([...keys, name]);
    else collect(below as Branch, named, [...keys, name], found);
  }
}

/**
 * The figures of the members of a collection, by group. Built by one walk. Each later change costs
 * only the touched members. A candidate's figures are staged, and become current when the candidate
 * is kept.
 */
export class Aggregate extends AggregateView {
  readonly plan: AggregatePlan;
  readonly rows: ContributionTable;
  readonly slot: number;
  readonly #groups: Map<string, Group> = new Map();
  /** Most named groups have one member. */
  readonly #names: Map<string, string | Set<string>> = new Map();
  readonly #unfit: Map<string, UncountableMember> = new Map();

  /** Counts all members of a state. */
  constructor(
    plan: AggregatePlan,
    rows: ContributionTable,
    state: unknown,
    sight: MemberViewCache,
  ) {
    super();
    this.plan = plan;
    this.rows = rows;
    this.slot = rows.newSlot();
    for (const keys of membersUnder(plan.path, state, NO_KEYS)) {
      const now = this.recount(undefined, sight.member(plan.path, keys), keys);
      if (now === UNCHANGED || now === undefined) continue;
      this.write(keys, undefined, now);
      if ('group' in now) this.put(now.group, more(this.group(now.group), now));
    }
  }

  /** A member's current contribution, or the mark that it equals its row. */
  recount(
    row: ContributionRow | undefined,
    member: unknown,
    keys: Keys,
  ): Contribution | typeof UNCHANGED {
    const { by: byOf, amount: amountOf } = this.plan;
    const before = row?.[this.slot * 2];
    if (member === undefined) return before === undefined ? UNCHANGED : undefined;
    let by: unknown;
    let amount: number | undefined;
    try {
      by = byOf(member, keys);
      if (by === undefined) return before === undefined ? UNCHANGED : undefined;
      amount = amountOf === undefined ? 0 : amountOf(member, keys);
      if (by === before && amount === row?.[this.slot * 2 + 1]) return UNCHANGED;
      const group = this.plan.group(by);
      if (group === undefined) return uncountable(keys, 'its group is not a string', by, amount);
      const was = typeof by === 'object' ? this.read(row) : undefined;
      if (was !== undefined && 'group' in was && was.group === group && was.amount === amount)
        return UNCHANGED;
      if (Number.isSafeInteger(amount)) return { by, group, amount };
      return uncountable(keys, 'its amount is not a whole number within 2^53 - 1', amount);
    } catch (error) {
      const why = isInstance(error, FootprintFault)
        ? error.message
        : `it threw: ${messageOf(error)}`;
      return uncountable(keys, why, by, amount);
    }
  }

  /** The contribution in a row. */
  read(row: ContributionRow | undefined): Contribution {
    const by = row?.[this.slot * 2];
    if (by === undefined || by instanceof UncountableMember) return by;
    return { by, group: this.plan.group(by) as string, amount: row?.[this.slot * 2 + 1] as number };
  }

  override group(name: string): Group | undefined {
    return this.#groups.get(name);
  }

  override uncountable(): ReadonlyMap<string, UncountableMember> {
    return this.#unfit;
  }

  groups(): string[] {
    return [...this.#groups.keys()];
  }

  override namesOf(group: string): Iterable<string> {
    const names = this.#names.get(group) ?? [];
    return typeof names === 'string' ? [names] : names;
  }

  /** Stores a member's new contribution. */
  write(keys: Keys, before: Contribution, now: Contribution): void {
    this.rows.write(keys, this.slot, now);
    if (before instanceof UncountableMember) this.#unfit.delete(nameOf(keys));
    if (now instanceof UncountableMember) this.#unfit.set(nameOf(keys), now);
    if (!this.plan.named) return;
    if (before !== undefined && 'group' in before) this.#leave(before.group, nameOf(keys));
    if (now !== undefined && 'group' in now) this.#join(now.group, nameOf(keys));
  }

  #join(group: string, name: string): void {
    const there = this.#names.get(group);
    if (there === undefined) this.#names.set(group, name);
    else if (typeof there === 'string') this.#names.set(group, new Set([there, name]));
    else there.add(name);
  }

  #leave(group: string, name: string): void {
    const there = this.#names.get(group);
    if (there === name) this.#names.delete(group);
    else if (there instanceof Set) {
      there.delete(name);
      if (there.size === 0) this.#names.delete(group);
    }
  }

  put(name: string, group: Group | undefined): void {
    if (group === undefined) this.#groups.delete(name);
    else this.#groups.set(name, group);
  }
}

/** `returned`: by the functions of the index. A promise among them must not end the process. */
function uncountable(keys: Keys, why: string, ...returned: readonly unknown[]): UncountableMember {
  return new UncountableMember(
    keys,
    returned.some(isUnwantedPromise) ? 'its index returned a promise' : why,
  );
}

/** A recounted member. */
interface Counted {
  readonly keys: Keys;
  readonly before: Contribution;
  readonly now: Contribution;
}

/** A tally with some recounted members. Their contribution has changed. */
export class StagedAggregate extends AggregateView {
  readonly plan: AggregatePlan;
  readonly #base: Aggregate;
  readonly #counted: SmallMap<Counted> = new SmallMap();
  readonly #groups: SmallMap<Group | undefined> = new SmallMap();
  #unfit: Map<string, UncountableMember> | undefined;

  constructor(base: Aggregate) {
    super();
    this.#base = base;
    this.plan = base.plan;
  }

  override group(name: string): Group | undefined {
    return this.#groups.has(name) ? this.#groups.get(name) : this.#base.group(name);
  }

  override uncountable(): ReadonlyMap<string, UncountableMember> {
    return this.#unfit ?? this.#base.uncountable();
  }

  override namesOf(group: string): Iterable<string> {
    const names = new Set(this.#base.namesOf(group));
    for (const name of this.#counted.keys) {
      const { now } = this.#counted.get(name) as Counted;
      if (now !== undefined && 'group' in now && now.group === group) names.add(name);
      else names.delete(name);
    }
    return names;
  }

  /** Whether a member was recounted before. */
  has(name: string): boolean {
    return this.#counted.has(name);
  }

  /**
   * `touched` receives the groups with changed figures, and undefined if other members become
   * countable.
   */
  change(name: string, counted: Counted, touched: (group: string | undefined) => void): void {
    const { before, now } = counted;
    this.#counted.set(name, counted);
    if (before !== undefined && 'group' in before) {
      this.#groups.set(before.group, less(this.group(before.group), before));
      touched(before.group);
    }
    if (now !== undefined && 'group' in now) {
      this.#groups.set(now.group, more(this.group(now.group), now));
      touched(now.group);
    }
    if (before instanceof UncountableMember || now instanceof UncountableMember) {
      this.#unfit ??= new Map(this.#base.uncountable());
      if (now instanceof UncountableMember) this.#unfit.set(name, now);
      else this.#unfit.delete(name);
      touched(undefined);
    }
  }

  /** The figures that differ from the current ones, each with the sign of its difference. */
  *shifts(): Generator<readonly [figure: string, sign: number]> {
    for (const name of this.#groups.keys) {
      const { count, sum } = this.#base.group(name) ?? NOBODY;
      const now = this.#groups.get(name) ?? NOBODY;
      if (now.count !== count) yield [`count ${name}`, now.count > count ? 1 : -1];
      if (now.sum !== sum) yield [`sum ${name}`, now.sum > sum ? 1 : -1];
    }
  }

  /** Makes the staged figures current. */
  keep(): void {
    for (const name of this.#counted.keys) {
      const { keys, before, now } = this.#counted.get(name) as Counted;
      this.#base.write(keys, before, now);
    }
    for (const name of this.#groups.keys) this.#base.put(name, this.#groups.get(name));
  }
}

/** Marks an unchanged contribution. */
export const UNCHANGED: unique symbol = Symbol('unchanged');

const NOBODY: Group = { count: 0, sum: 0 };

function more(group: Group = NOBODY, { amount }: Share): Group {
  return { count: group.count + 1, sum: plus(group.sum, amount) };
}

/** Undefined if the group is empty. */
function less(group: Group = NOBODY, { amount }: Share): Group | undefined {
  return group.count <= 1 ? undefined : { count: group.count - 1, sum: plus(group.sum, -amount) };
}

/** Exact: the sum of two safe integers is added without loss if it is safe too. */
function plus(sum: number | bigint, amount: number): number | bigint {
  if (typeof sum === 'number') {
    const total = sum + amount;
    if (Number.isSafeInteger(total)) return total;
  }
  const total = BigInt(sum) + BigInt(amount);
  const back = Number(total);
  return Number.isSafeInteger(back) ? back : total;
}
