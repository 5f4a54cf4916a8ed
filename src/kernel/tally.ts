import { FootprintFault, messageOf } from './errors.ts';
import { Few } from './few.ts';
import type { Pattern } from './footprint.ts';
import type { Counts } from './invariant.ts';
import { byKeys, type Keys, keysOf, memberPath, membersUnder, NO_KEYS, nameOf, placeOf } from './members.ts';
import type { Sight } from './sight.ts';

/** An index as a rule declares it. */
export interface TallyPlan {
  /** What a check finds it under. */
  readonly name: string;
  readonly path: Pattern;
  /** The group that a member is in; undefined: it is in none. */
  readonly group: (member: unknown, keys: Keys) => string | undefined;
  /** What it adds to the sum of its group; undefined: there are no sums. */
  readonly amount: ((member: unknown, keys: Keys) => number) | undefined;
  /** Whether it has to be known who is in a group. */
  readonly named: boolean;
}

/** What one member brings to its group. */
interface Share {
  readonly group: string;
  readonly amount: number;
}

/** A member that can't be counted, and why. */
interface Unfit {
  readonly keys: Keys;
  readonly why: string;
}

/** What a member brings, if it takes part. */
export type Brought = Share | Unfit | undefined;

/** The figures of one group, never changed. A sum is a number as long as it is a safe one, and so exact. */
interface Group {
  readonly count: number;
  readonly sum: number | bigint;
  readonly names: readonly string[];
}

/** What is read of a tally: of the one that stands, or of one as a candidate would make it. */
export abstract class Tallied implements Counts {
  abstract readonly plan: TallyPlan;
  abstract group(name: string): Group | undefined;
  abstract unfit(): ReadonlyMap<string, Unfit>;
  abstract brings(name: string): Brought;

  count(group: string = ''): number {
    this.#sound();
    return this.group(group)?.count ?? 0;
  }

  sum(group: string = ''): number {
    const { name, amount } = this.plan;
    if (amount === undefined) throw new Error(`the index ${name} does not say what it sums; give it an \`of\``);
    this.#sound();
    return this.sumOfCounted(group);
  }

  /** Of those members that can be counted. @throws Error beyond 2^53 − 1 */
  sumOfCounted(group: string): number {
    const { sum } = this.group(group) ?? NOBODY;
    if (typeof sum === 'bigint') throw new Error(`the sum ${sum} is beyond 2^53 - 1`);
    return sum;
  }

  /** The places of the members of a group, in order. */
  places(group: string): readonly string[] {
    const { path } = this.plan;
    const members = (this.group(group) ?? NOBODY).names.map((name) => keysOf(path, name));
    return members.sort(byKeys).map((keys) => placeOf(path, keys));
  }

  /** Why the figures are not those of all members: the first one, in order, that can't be counted. */
  fault(): string | undefined {
    const unfit = this.unfit();
    if (unfit.size === 0) return undefined;
    const [first] = [...unfit.values()].sort((a, b) => byKeys(a.keys, b.keys)) as [Unfit];
    return `${placeOf(this.plan.path, first.keys)} can't be counted, ${first.why}`;
  }

  #sound(): void {
    const fault = this.fault();
    if (fault !== undefined) throw new Error(fault);
  }
}

/**
 * The figures of the members of a collection, by group. Made by one walk; from then on each change costs what it touches.
 * What a candidate would make of them is staged, and taken over when the candidate is kept.
 */
export class Tally extends Tallied {
  readonly plan: TallyPlan;
  readonly #shares: Map<string, Share> = new Map();
  readonly #groups: Map<string, Group> = new Map();
  readonly #unfit: Map<string, Unfit> = new Map();

  constructor(plan: TallyPlan) {
    super();
    this.plan = plan;
  }

  /** Counts all members of a state. */
  static of(plan: TallyPlan, state: unknown, sight: Sight): Tally {
    const tally = new Tally(plan);
    for (const keys of membersUnder(plan.path, state, NO_KEYS)) {
      const name = nameOf(keys);
      const now = broughtBy(plan, sight.member(plan.path, keys), keys);
      tally.bring(name, now);
      if (now !== undefined && 'group' in now)
        tally.put(now.group, more(tally.group(now.group), name, now, plan.named));
    }
    return tally;
  }

  override group(name: string): Group | undefined {
    return this.#groups.get(name);
  }

  override unfit(): ReadonlyMap<string, Unfit> {
    return this.#unfit;
  }

  groups(): string[] {
    return [...this.#groups.keys()];
  }

  /** The members whose paths lie under this one, which is shorter than theirs. */
  membersUnder(path: readonly string[]): Keys[] {
    const all = [...this.#shares.keys(), ...this.#unfit.keys()].map((name) => keysOf(this.plan.path, name));
    return all.filter((keys) => path.every((key, i) => memberPath(this.plan.path, keys)[i] === key));
  }

  override brings(name: string): Brought {
    return this.#shares.get(name) ?? (this.#unfit.size === 0 ? undefined : this.#unfit.get(name));
  }

  /** What a member brings from now on. */
  bring(name: string, now: Brought): void {
    if (now === undefined || 'why' in now) this.#shares.delete(name);
    else this.#shares.set(name, now);
    if (now !== undefined && 'why' in now) this.#unfit.set(name, now);
    else if (this.#unfit.size > 0) this.#unfit.delete(name);
  }

  put(name: string, group: Group | undefined): void {
    if (group === undefined) this.#groups.delete(name);
    else this.#groups.set(name, group);
  }
}

/** A tally with some members counted anew, which differ from what they were. */
export class StagedTally extends Tallied {
  readonly plan: TallyPlan;
  readonly #base: Tally;
  readonly #brought: Few<Brought> = new Few();
  readonly #groups: Few<Group | undefined> = new Few();
  #unfit: Map<string, Unfit> | undefined;

  constructor(base: Tally) {
    super();
    this.#base = base;
    this.plan = base.plan;
  }

  override group(name: string): Group | undefined {
    return this.#groups.has(name) ? this.#groups.get(name) : this.#base.group(name);
  }

  override unfit(): ReadonlyMap<string, Unfit> {
    return this.#unfit ?? this.#base.unfit();
  }

  override brings(name: string): Brought {
    return this.#brought.has(name) ? this.#brought.get(name) : this.#base.brings(name);
  }

  /** `touched` is given the groups whose figures change, and undefined when others can be counted now. */
  change(keys: Keys, before: Brought, now: Brought, touched: (group: string | undefined) => void): void {
    const name = nameOf(keys);
    this.#brought.set(name, now);
    if (before !== undefined && 'group' in before) {
      this.#groups.set(before.group, less(this.group(before.group), name, before));
      touched(before.group);
    }
    if (now !== undefined && 'group' in now) {
      this.#groups.set(now.group, more(this.group(now.group), name, now, this.plan.named));
      touched(now.group);
    }
    if ((before !== undefined && 'why' in before) || (now !== undefined && 'why' in now)) {
      this.#unfit ??= new Map(this.#base.unfit());
      if (now !== undefined && 'why' in now) this.#unfit.set(name, now);
      else this.#unfit.delete(name);
      touched(undefined);
    }
  }

  /** Makes it what stands. */
  keep(): void {
    for (const name of this.#brought.keys) this.#base.bring(name, this.#brought.get(name));
    for (const name of this.#groups.keys) this.#base.put(name, this.#groups.get(name));
  }
}

const NOBODY: Group = { count: 0, sum: 0, names: [] };

/** What a member brings as it is now; nothing when there is none. */
export function broughtBy(plan: TallyPlan, member: unknown, keys: Keys): Brought {
  if (member === undefined) return undefined;
  try {
    const group = plan.group(member, keys);
    if (group === undefined) return undefined;
    if (typeof group !== 'string') return { keys, why: 'its group is not a text' };
    const amount = plan.amount === undefined ? 0 : plan.amount(member, keys);
    if (!Number.isSafeInteger(amount)) return { keys, why: 'what it adds is not a whole number within 2^53 - 1' };
    return { group, amount };
  } catch (error) {
    return { keys, why: error instanceof FootprintFault ? error.message : `it threw: ${messageOf(error)}` };
  }
}

export function isSame(a: Brought, b: Brought): boolean {
  if (a === undefined || b === undefined) return a === b;
  if ('why' in a) return 'why' in b && a.why === b.why;
  return 'group' in b && a.group === b.group && a.amount === b.amount;
}

function more(group: Group = NOBODY, name: string, { amount }: Share, named: boolean): Group {
  const names = named ? [...group.names, name] : group.names;
  return { count: group.count + 1, sum: plus(group.sum, amount), names };
}

/** Undefined when nobody is left. */
function less(group: Group = NOBODY, name: string, { amount }: Share): Group | undefined {
  if (group.count <= 1) return undefined;
  const names = group.names.length === 0 ? group.names : group.names.filter((other) => other !== name);
  return { count: group.count - 1, sum: plus(group.sum, -amount), names };
}

/** Exact: two safe numbers whose sum is one too are added without a loss. */
function plus(sum: number | bigint, amount: number): number | bigint {
  if (typeof sum === 'number') {
    const total = sum + amount;
    if (Number.isSafeInteger(total)) return total;
  }
  const total = BigInt(sum) + BigInt(amount);
  const back = Number(total);
  return Number.isSafeInteger(back) ? back : total;
}
