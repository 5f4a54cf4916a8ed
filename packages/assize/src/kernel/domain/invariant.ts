import type { Instant } from '#canon';
import type { CallableTool, ProposedCall } from './call.ts';
import type { InvariantResult } from './invariant-result.ts';
import type { ValidPointer, ValidPointers, ValueAt } from './path-types.ts';

/** The approver and the time of an approval, for `onApprove`. */
export interface Approval {
  readonly counselor: string;
  readonly at: Instant;
}

/** Options that an invariant can declare in addition to its check. */
export interface InvariantOptions<State> {
  /**
   * The counselor kind that resolves escalations of this invariant: one of the domain's
   * `counselors`. Default: any counselor.
   */
  readonly channel?: string;
  /** Number of different approvers that escalations of this invariant need: 1 to 8. Default: 1. */
  readonly approvals?: number;
  /**
   * Milliseconds until a proposal that this invariant escalates expires. The shortest time counts:
   * of the deployment, the action, the first rule that escalates, at all its places, and every rule
   * over calls that does. Default: no own time.
   */
  readonly timeoutMs?: number;
  /**
   * Writes an approval into the state, so the escalated state passes when it is committed as
   * approved (docs/decisions/006-approvals.md). Runs once for each approver, in order. For an
   * `each` invariant, `keys` are those of the escalated member.
   */
  readonly onApprove?: (
    state: State,
    approval: Approval & { readonly keys: readonly string[] },
  ) => void;
  /**
   * No override commits a state that this invariant escalates, and no root, branch or upgrade
   * begins with one. Default: false. A rejection cannot be overridden, unless the invariant is
   * `overridable`.
   */
  readonly final?: boolean;
  /** An override may commit a state that this invariant rejects. Default: false. */
  readonly overridable?: boolean;
}

/** Whether an override may commit a state for which the invariant gives this result. */
export function isOverridable(
  { final = false, overridable = false }: InvariantOptions<any>,
  result: InvariantResult['result'],
): boolean {
  return result === 'reject' ? overridable : !final;
}

/**
 * The ids of the rules that declare neither `final` nor `overridable`. Earlier versions let an
 * override cover their rejections.
 */
export function rulesWithoutOverride({
  rules,
}: {
  readonly rules: readonly { readonly spec: Invariant<any> }[];
}): string[] {
  return rules.flatMap(({ spec }) =>
    spec.final === true || spec.overridable === true ? [] : [spec.id],
  );
}

/** Figures over the members of a collection. Each change of a member updates them. */
export interface Index<Member = any, Path extends string = string> {
  /** The members: a pointer that ends in `/*`, such as `/orders/*`. */
  readonly path: Path;
  /**
   * The group of a member. A member with `undefined` is not counted. Default: all members are in
   * one group named `''`.
   */
  readonly per?: (member: Member, keys: readonly string[]) => string | undefined;
  /**
   * The whole number that a member adds to its group's sum. Default: there are no sums, and reading
   * one throws.
   */
  readonly of?: (member: Member, keys: readonly string[]) => number;
}

/** An index as a check reads it. A group without members counts 0. */
export interface Counts {
  count(group?: string): number;
  /**
   * The exact sum.
   *
   * @throws Error beyond 2^53 − 1; the state is rejected
   */
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
  /**
   * Paths that the check of a member reads in addition to the member. Every pointer of `with` must
   * lie under one of these.
   */
  readonly reads: readonly string[];
  readonly with?: (member: any, keys: readonly string[]) => Readonly<Record<string, string>>;
  readonly check: (member: any, others: any, keys: readonly string[]) => InvariantResult;
}

/** Rules over groups of members. Only the groups of changed members are checked. */
interface GroupInvariant<State> extends InvariantOptions<State> {
  readonly id: string;
  readonly path: string;
  /**
   * Paths that the check of a group reads in addition to its members. Every pointer of `with` must
   * lie under one of these.
   */
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

export interface CallInvariant<State> extends InvariantOptions<State> {
  readonly kind: 'eachCall';
  readonly id: string;
  /** The name of a tool, a group of tools such as `bank.*`, or `**` for all tools. */
  readonly tool: string;
  /** Paths that `with` can name. Every pointer of `with` must lie under one of these. */
  readonly reads: readonly string[];
  readonly with?: (call: ProposedCall) => Readonly<Record<string, string>>;
  readonly check: (call: ProposedCall, others: any) => InvariantResult;
}

export type Invariant<State> =
  | PlainInvariant<State>
  | EachInvariant<State>
  | UniqueInvariant<State>
  | SumInvariant<State>
  | CountInvariant<State>
  | CallInvariant<State>;

/** A value that must be unique. Lists are allowed too, such as a pair of currency and number. */
export type UniqueValue = string | number | boolean | null | readonly UniqueValue[];

/** Indexes by name, each with the type of its members. */
type Indexes<State, Paths extends Readonly<Record<string, string>>> = {
  readonly [Name in keyof Paths]: Index<ValueAt<State, Paths[Name]>, Paths[Name]>;
};

/** Options of a plain invariant. */
export interface PlainOptions<State, Paths extends Readonly<Record<string, string>>>
  extends InvariantOptions<State> {
  /**
   * Indexes over whole collections that the check reads. Each change updates them, so no check
   * walks a collection. The members of an index belong to the footprint.
   */
  readonly index?: Indexes<State, Paths>;
}

/**
 * A rule over the state under `reads` and over its declared indexes. `check` receives only these,
 * read-only. The rule is evaluated when a change touches that footprint. A throw counts as a
 * rejection.
 */
export function invariant<
  State = any,
  const Paths extends Readonly<Record<string, string>> = Record<never, string>,
>(
  id: string,
  reads: readonly string[],
  check: (state: State, index: { readonly [Name in keyof Paths]: Counts }) => InvariantResult,
  options: PlainOptions<State, Paths> = {},
): PlainInvariant<State> {
  return { kind: 'plain', id, reads, check, ...options } as PlainInvariant<State>;
}

/** Options of an `each` invariant: other parts of the state that the check of a member reads. */
export interface EachOptions<
  State,
  Path extends string,
  Others,
  Reads extends readonly string[] = readonly string[],
> extends InvariantOptions<State> {
  /** Static footprint of `with`, such as `/users/*`. */
  readonly reads?: Reads;
  /**
   * Names the other places by pointer. Each value arrives in `others` under its name, `undefined`
   * if absent.
   */
  readonly with?: (member: ValueAt<State, Path>, keys: readonly string[]) => Others;
}

/**
 * A rule over every member under `path` (`/orders/*`). `keys` are the keys that the stars stood
 * for. Only changed members, and members with a changed place of `with`, are evaluated.
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
    member: ValueAt<State, Path>,
    others: { readonly [Name in keyof Others]: ValueAt<State, Others[Name]> | undefined },
    keys: readonly string[],
  ) => InvariantResult,
): EachInvariant<State> {
  const { reads = [], ...rest } = options ?? {};
  return { kind: 'each', id, path, reads, check, ...rest } as EachInvariant<State>;
}

/** Options of a `unique` invariant. */
export interface UniqueOptions<State, Path extends string> extends InvariantOptions<State> {
  /** The value that must be unique among the members. A member with `undefined` is ignored. */
  readonly by: (member: ValueAt<State, Path>, keys: readonly string[]) => UniqueValue | undefined;
}

/**
 * No two members under `path` may have the same value. `check` rules on a state with duplicates and
 * receives their places in order. Default: the state is rejected.
 */
export function unique<State = any, const Path extends string = string>(
  id: string,
  path: Path,
  options: UniqueOptions<State, Path>,
  check?: (places: readonly string[]) => InvariantResult,
): UniqueInvariant<State> {
  return { kind: 'unique', id, path, reads: [], check, ...options } as UniqueInvariant<State>;
}

/** The common options of `sum` and `count`. */
interface GroupOptions<State, Path extends string, Others, Reads = readonly string[]>
  extends InvariantOptions<State> {
  /**
   * The group of a member. Each group is checked separately. A member with `undefined` is in no
   * group. Default: all members are in one group named `''`.
   */
  readonly per?: (member: ValueAt<State, Path>, keys: readonly string[]) => string | undefined;
  /** Static footprint of `with`, such as `/limits/*`. */
  readonly reads?: Reads;
  /**
   * Names other places by pointer. Each value arrives in `others` under its name, `undefined` if
   * absent.
   */
  readonly with?: (group: string) => Others;
}

export interface SumOptions<State, Path extends string, Others, Reads = readonly string[]>
  extends GroupOptions<State, Path, Others, Reads> {
  /** The whole number that a member adds. Default: the member itself. */
  readonly of?: (member: ValueAt<State, Path>, keys: readonly string[]) => number;
}

/** A check of a group's figure. */
type GroupCheck<State, Others> = (
  figure: number,
  others: OthersAt<State, Others>,
  group: string,
) => InvariantResult;

/**
 * A rule over the sum of the members under `path`, for each group. Sums are exact. A member without
 * a whole number, and a sum beyond 2^53 − 1, do not pass. A group without members is not checked,
 * unless all members are in one group.
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
  /** Whether a member is counted. Default: all members are counted. */
  readonly where?: (member: ValueAt<State, Path>, keys: readonly string[]) => boolean;
}

/** A rule over the number of members under `path`, for each group, like `sum`. */
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

/** Options of an `eachCall` invariant: the parts of the state that the check of a call reads. */
export interface CallOptions<State, Input, Others, Reads = readonly string[]>
  extends InvariantOptions<State> {
  /** Static footprint of `with`, such as `/accounts/*`. */
  readonly reads?: Reads;
  /**
   * Names places of the state by pointer. Each value arrives in `others` under its name,
   * `undefined` if absent.
   */
  readonly with?: (call: ProposedCall<Input>) => Others;
}

/**
 * A rule over every changing call of a tool: the calls that an action declares and those of a
 * transaction body. `tool`: the tool itself, its name, a group such as `bank.*`, or `**` for all
 * tools. The check reads the state that the proposal produces. All rules are judged in order.
 */
export function eachCall<
  State = any,
  Parsed = any,
  Others extends Record<string, `/${string}`> = Record<string, `/${string}`>,
>(
  id: string,
  tool: CallableTool<any, Parsed> | string,
  options: CallOptions<State, Parsed, Others>,
  check: (call: ProposedCall<Parsed>, others: OthersAt<State, Others>) => InvariantResult,
): CallInvariant<State> {
  const { reads = [], ...rest } = options ?? {};
  const name = typeof tool === 'string' ? tool : tool?.name;
  return { kind: 'eachCall', id, tool: name, reads, check, ...rest } as CallInvariant<State>;
}

/**
 * The rule constructors typed for the state, as `defineDomain({ invariants: (rules) => … })` passes
 * them.
 */
export interface Rules<State> {
  invariant<
    const Reads extends readonly string[] & ValidPointers<State, Reads>,
    const Paths extends Readonly<Record<string, string>> & ValidPointers<State, Paths> = Record<
      never,
      string
    >,
  >(
    id: string,
    reads: Reads,
    check: (state: State, index: { readonly [Name in keyof Paths]: Counts }) => InvariantResult,
    options?: PlainOptions<State, Paths>,
  ): PlainInvariant<State>;
  each<
    const Path extends string,
    const Others extends Record<string, string> & ValidPointers<State, Others> = Record<
      string,
      never
    >,
    const Reads extends readonly string[] & ValidPointers<State, Reads> = readonly [],
  >(
    id: string,
    path: Path extends ValidPointer<State, Path> ? Path : ValidPointer<State, Path>,
    options: EachOptions<State, Path, Others, Reads>,
    check: (
      member: ValueAt<State, Path>,
      others: OthersAt<State, Others>,
      keys: readonly string[],
    ) => InvariantResult,
  ): EachInvariant<State>;
  unique<const Path extends string>(
    id: string,
    path: Path extends ValidPointer<State, Path> ? Path : ValidPointer<State, Path>,
    options: UniqueOptions<State, Path>,
    check?: (places: readonly string[]) => InvariantResult,
  ): UniqueInvariant<State>;
  sum<
    const Path extends string,
    const Others extends Record<string, string> & ValidPointers<State, Others> = Record<
      never,
      never
    >,
    const Reads extends readonly string[] & ValidPointers<State, Reads> = readonly [],
  >(
    id: string,
    path: Path extends ValidPointer<State, Path> ? Path : ValidPointer<State, Path>,
    options: SumOptions<State, Path, Others, Reads>,
    check: GroupCheck<State, Others>,
  ): SumInvariant<State>;
  count<
    const Path extends string,
    const Others extends Record<string, string> & ValidPointers<State, Others> = Record<
      never,
      never
    >,
    const Reads extends readonly string[] & ValidPointers<State, Reads> = readonly [],
  >(
    id: string,
    path: Path extends ValidPointer<State, Path> ? Path : ValidPointer<State, Path>,
    options: CountOptions<State, Path, Others, Reads>,
    check: GroupCheck<State, Others>,
  ): CountInvariant<State>;
  eachCall<
    Parsed = any,
    const Others extends Record<string, string> & ValidPointers<State, Others> = Record<
      never,
      never
    >,
    const Reads extends readonly string[] & ValidPointers<State, Reads> = readonly [],
  >(
    id: string,
    tool: CallableTool<any, Parsed> | string,
    options: CallOptions<State, Parsed, Others, Reads>,
    check: (call: ProposedCall<Parsed>, others: OthersAt<State, Others>) => InvariantResult,
  ): CallInvariant<State>;
}

/** The values at the pointers of `with`. */
type OthersAt<State, Others> = {
  readonly [Name in keyof Others]: Others[Name] extends string
    ? ValueAt<State, Others[Name]> | undefined
    : unknown;
};
