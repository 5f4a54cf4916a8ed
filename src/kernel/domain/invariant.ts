import type { Instant } from '#canon';
import type { InvariantResult } from './invariant-result.ts';
import type { At, Place, Places } from './path-types.ts';

/** Who approves and when, for `onApprove`. */
export interface Approval {
  readonly counselor: string;
  readonly at: Instant;
}

/** What an invariant may declare beside its predicate. */
export interface InvariantOptions<State> {
  /**
   * The counselor kind that resolves what this invariant escalates; one of the domain's `counselors`.
   * Default: any of them.
   */
  readonly channel?: string;
  /** How many different people must approve what this invariant escalates: 1 to 8. Default: 1. */
  readonly approvals?: number;
  /**
   * Writes the approval into the state, so that what escalated passes when it is committed as approved
   * (decisions §2.1). For an `each` invariant `keys` are those of the member that escalated.
   */
  readonly onApprove?: (state: State, approval: Approval & { readonly keys: readonly string[] }) => void;
}

/** What is kept of the members of a collection, and goes along with each change of one of them. */
export interface Index<Member = any, Path extends string = string> {
  /** The members: a pointer that ends in `/*`, such as `/orders/*`. */
  readonly path: Path;
  /** The group that a member belongs to; undefined: it is not counted. Default: all are in one, named `''`. */
  readonly per?: (member: Member, keys: readonly string[]) => string | undefined;
  /** What a member adds to its group's sum: a whole number. Default: there are no sums, and to ask for one throws. */
  readonly of?: (member: Member, keys: readonly string[]) => number;
}

/** An index as a check reads it. A group that no member is in counts 0. */
export interface Counts {
  count(group?: string): number;
  /** Exact. @throws Error beyond 2^53 − 1, which a rule does not pass */
  sum(group?: string): number;
}

export interface PlainInvariant<State> extends InvariantOptions<State> {
  readonly kind: 'plain';
  readonly id: string;
  readonly reads: readonly string[];
  readonly index?: Readonly<Record<string, Index>>;
  readonly check: (state: State, index: any) => InvariantResult;
}

export interface EachInvariant<State> extends InvariantOptions<State> {
  readonly kind: 'each';
  readonly id: string;
  /** The members: a pointer with one `*` or more, such as `/orders/*`. */
  readonly path: string;
  /** What a member's judgement reads beside the member; every pointer of `with` must lie under one of these. */
  readonly reads: readonly string[];
  readonly with?: (member: any, keys: readonly string[]) => Readonly<Record<string, string>>;
  readonly check: (member: any, others: any, keys: readonly string[]) => InvariantResult;
}

/** Rules over groups of members. Only groups that a change of a member touches are judged. */
interface GroupInvariant<State> extends InvariantOptions<State> {
  readonly id: string;
  readonly path: string;
  /** What a group's judgement reads beside its members; every pointer of `with` must lie under one of these. */
  readonly reads: readonly string[];
}

export interface UniqueInvariant<State> extends GroupInvariant<State> {
  readonly kind: 'unique';
  readonly by: (member: any, keys: readonly string[]) => UniqueValue | undefined;
  readonly check: ((places: readonly string[]) => InvariantResult) | undefined;
}

export interface SumInvariant<State> extends GroupInvariant<State> {
  readonly kind: 'sum';
  readonly of?: Index['of'];
  readonly per?: Index['per'];
  readonly with?: (group: string) => Readonly<Record<string, string>>;
  readonly check: (sum: number, others: any, group: string) => InvariantResult;
}

export interface CountInvariant<State> extends GroupInvariant<State> {
  readonly kind: 'count';
  readonly where?: (member: any, keys: readonly string[]) => boolean;
  readonly per?: Index['per'];
  readonly with?: (group: string) => Readonly<Record<string, string>>;
  readonly check: (count: number, others: any, group: string) => InvariantResult;
}

export type Invariant<State> =
  | PlainInvariant<State>
  | EachInvariant<State>
  | UniqueInvariant<State>
  | SumInvariant<State>
  | CountInvariant<State>;

/** What tells members apart; lists of it too, such as a pair of currency and number. */
export type UniqueValue = string | number | boolean | null | readonly UniqueValue[];

/** Indexes by name, each with the type of its members. */
type Indexes<State, Paths extends Readonly<Record<string, string>>> = {
  readonly [Name in keyof Paths]: Index<At<State, Paths[Name]>, Paths[Name]>;
};

/** Options of a plain invariant. */
export interface PlainOptions<State, Paths extends Readonly<Record<string, string>>> extends InvariantOptions<State> {
  /**
   * What the check needs to know of whole collections, kept up with each change, so that no check walks them. Their members
   * belong to the footprint.
   */
  readonly index?: Indexes<State, Paths>;
}

/**
 * A rule over the state under `reads`, which is all that `check` is given, read-only, and over the indexes that it declares.
 * It is evaluated when a change touches that footprint. A throw counts as a rejection.
 */
export function invariant<State = any, const Paths extends Readonly<Record<string, string>> = Record<never, string>>(
  id: string,
  reads: readonly string[],
  check: (state: State, index: { readonly [Name in keyof Paths]: Counts }) => InvariantResult,
  options: PlainOptions<State, Paths> = {},
): PlainInvariant<State> {
  return { kind: 'plain', id, reads, check, ...options } as PlainInvariant<State>;
}

/** Options of an `each` invariant: other parts of the state that a member is judged with. */
export interface EachOptions<State, Path extends string, Others, Reads extends readonly string[] = readonly string[]>
  extends InvariantOptions<State> {
  /** Static footprint of `with`, such as `/users/*`. */
  readonly reads?: Reads;
  /** Names the other places by pointer; each arrives in `others` under its name, `undefined` when absent. */
  readonly with?: (member: At<State, Path>, keys: readonly string[]) => Others;
}

/**
 * A rule over every member under `path` (`/orders/*`). Only changed members are evaluated, and those whose `with`
 * places changed. `keys` are what the stars stood for.
 */
export function each<
  State = any,
  const Path extends string = string,
  Others extends Record<string, `/${string}`> = Record<string, `/${string}`>,
>(
  id: string,
  path: Path,
  options: EachOptions<State, Path, Others>,
  check: (
    member: At<State, Path>,
    others: { readonly [Name in keyof Others]: At<State, Others[Name]> | undefined },
    keys: readonly string[],
  ) => InvariantResult,
): EachInvariant<State> {
  const { reads = [], ...rest } = options ?? {};
  return { kind: 'each', id, path, reads, check, ...rest } as EachInvariant<State>;
}

/** Options of a `unique` invariant. */
export interface UniqueOptions<State, Path extends string> extends InvariantOptions<State> {
  /** What no two members may have in common; a member for which it is undefined takes no part. */
  readonly by: (member: At<State, Path>, keys: readonly string[]) => UniqueValue | undefined;
}

/**
 * No two members under `path` have the same value. `check` says what becomes of a state in which some have, whose places it
 * is given, in order; default: it is rejected.
 */
export function unique<State = any, const Path extends string = string>(
  id: string,
  path: Path,
  options: UniqueOptions<State, Path>,
  check?: (places: readonly string[]) => InvariantResult,
): UniqueInvariant<State> {
  return { kind: 'unique', id, path, reads: [], check, ...options } as UniqueInvariant<State>;
}

/** What the options of `sum` and `count` have in common. */
interface GroupOptions<State, Path extends string, Others, Reads = readonly string[]> extends InvariantOptions<State> {
  /** The group that a member belongs to, which is judged by itself; undefined: none. Default: all are in one, named `''`. */
  readonly per?: (member: At<State, Path>, keys: readonly string[]) => string | undefined;
  /** Static footprint of `with`, such as `/limits/*`. */
  readonly reads?: Reads;
  /** Names other places by pointer; each arrives in `others` under its name, `undefined` when absent. */
  readonly with?: (group: string) => Others;
}

export interface SumOptions<State, Path extends string, Others, Reads = readonly string[]>
  extends GroupOptions<State, Path, Others, Reads> {
  /** What a member adds: a whole number. Default: the member itself. */
  readonly of?: (member: At<State, Path>, keys: readonly string[]) => number;
}

/** A check of a group's figure. */
type GroupCheck<State, Others> = (figure: number, others: OthersAt<State, Others>, group: string) => InvariantResult;

/**
 * A rule over the sum of what the members under `path` have, for each group of them. Sums are exact; a member that has no
 * whole number, and a sum beyond 2^53 − 1, do not pass. A group without members is not judged, unless it is the only one.
 */
export function sum<
  State = any,
  const Path extends string = string,
  Others extends Record<string, `/${string}`> = Record<string, `/${string}`>,
>(
  id: string,
  path: Path,
  options: SumOptions<State, Path, Others>,
  check: GroupCheck<State, Others>,
): SumInvariant<State> {
  const { reads = [], ...rest } = options ?? {};
  return { kind: 'sum', id, path, reads, check, ...rest } as SumInvariant<State>;
}

export interface CountOptions<State, Path extends string, Others, Reads = readonly string[]>
  extends GroupOptions<State, Path, Others, Reads> {
  /** Which members are counted. Default: all. */
  readonly where?: (member: At<State, Path>, keys: readonly string[]) => boolean;
}

/**
 * A rule over the number of members under `path`, for each group of them, as `sum`.
 */
export function count<
  State = any,
  const Path extends string = string,
  Others extends Record<string, `/${string}`> = Record<string, `/${string}`>,
>(
  id: string,
  path: Path,
  options: CountOptions<State, Path, Others>,
  check: GroupCheck<State, Others>,
): CountInvariant<State> {
  const { reads = [], ...rest } = options ?? {};
  return { kind: 'count', id, path, reads, check, ...rest } as CountInvariant<State>;
}

/** The makers of rules with the state's type filled in, as `defineDomain({ invariants: (rules) => … })` gives them. */
export interface Rules<State> {
  invariant<
    const Reads extends readonly string[] & Places<State, Reads>,
    const Paths extends Readonly<Record<string, string>> & Places<State, Paths> = Record<never, string>,
  >(
    id: string,
    reads: Reads,
    check: (state: State, index: { readonly [Name in keyof Paths]: Counts }) => InvariantResult,
    options?: PlainOptions<State, Paths>,
  ): PlainInvariant<State>;
  each<
    const Path extends string,
    const Others extends Record<string, string> & Places<State, Others> = Record<string, never>,
    const Reads extends readonly string[] & Places<State, Reads> = readonly [],
  >(
    id: string,
    path: Path extends Place<State, Path> ? Path : Place<State, Path>,
    options: EachOptions<State, Path, Others, Reads>,
    check: (member: At<State, Path>, others: OthersAt<State, Others>, keys: readonly string[]) => InvariantResult,
  ): EachInvariant<State>;
  unique<const Path extends string>(
    id: string,
    path: Path extends Place<State, Path> ? Path : Place<State, Path>,
    options: UniqueOptions<State, Path>,
    check?: (places: readonly string[]) => InvariantResult,
  ): UniqueInvariant<State>;
  sum<
    const Path extends string,
    const Others extends Record<string, string> & Places<State, Others> = Record<never, never>,
    const Reads extends readonly string[] & Places<State, Reads> = readonly [],
  >(
    id: string,
    path: Path extends Place<State, Path> ? Path : Place<State, Path>,
    options: SumOptions<State, Path, Others, Reads>,
    check: GroupCheck<State, Others>,
  ): SumInvariant<State>;
  count<
    const Path extends string,
    const Others extends Record<string, string> & Places<State, Others> = Record<never, never>,
    const Reads extends readonly string[] & Places<State, Reads> = readonly [],
  >(
    id: string,
    path: Path extends Place<State, Path> ? Path : Place<State, Path>,
    options: CountOptions<State, Path, Others, Reads>,
    check: GroupCheck<State, Others>,
  ): CountInvariant<State>;
}

/** What stands at the pointers of `with`. */
type OthersAt<State, Others> = {
  readonly [Name in keyof Others]: Others[Name] extends string ? At<State, Others[Name]> | undefined : unknown;
};
