import type { Instant } from './domain.ts';
import type { At } from './path-types.ts';
import type { InvariantResult } from './result.ts';

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

export interface PlainInvariant<State> extends InvariantOptions<State> {
  readonly kind: 'plain';
  readonly id: string;
  readonly reads: readonly string[];
  readonly check: (state: State) => InvariantResult;
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

export type Invariant<State> = PlainInvariant<State> | EachInvariant<State>;

/**
 * A rule over the state under `reads`, which is all that `check` is given, read-only. It is evaluated when a change
 * touches that footprint. A throw counts as a rejection.
 */
export function invariant<State = any>(
  id: string,
  reads: readonly string[],
  check: (state: State) => InvariantResult,
  options: InvariantOptions<State> = {},
): PlainInvariant<State> {
  return { kind: 'plain', id, reads, check, ...options };
}

/** Options of an `each` invariant: other parts of the state that a member is judged with. */
export interface EachOptions<State, Path extends string, Others extends Record<string, string>>
  extends InvariantOptions<State> {
  /** Static footprint of `with`, such as `/users/*`. */
  readonly reads?: readonly string[];
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
  const { reads = [], ...rest } = options;
  return { kind: 'each', id, path, reads, check, ...rest } as EachInvariant<State>;
}

/** `invariant` and `each` with the state's type filled in, as `defineDomain({ invariants: (rules) => … })` gives them. */
export interface Rules<State> {
  invariant(
    id: string,
    reads: readonly string[],
    check: (state: State) => InvariantResult,
    options?: InvariantOptions<State>,
  ): PlainInvariant<State>;
  each<const Path extends string, Others extends Record<string, `/${string}`> = Record<string, never>>(
    id: string,
    path: Path,
    options: EachOptions<State, Path, Others>,
    check: (
      member: At<State, Path>,
      others: { readonly [Name in keyof Others]: At<State, Others[Name]> | undefined },
      keys: readonly string[],
    ) => InvariantResult,
  ): EachInvariant<State>;
}
