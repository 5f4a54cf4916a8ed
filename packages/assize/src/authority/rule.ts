import type { Json } from '#base';
import type { Verdict } from './policy.ts';

/**
 * A test of one place in the arguments, or in the input of a call. All given tests must hold. An
 * absent place, or a value that is not a number for `min` or `max`, is an error, and errors deny.
 * Put a condition with `exists` before a condition on an optional place.
 */
export interface Condition {
  /** JSON pointer into the arguments or the input. */
  readonly path: string;
  /**
   * Whether there is a value. An error only if a container above could not hold it, because a
   * reader might find the value elsewhere.
   */
  readonly exists?: boolean;
  /** Equal to this value. */
  readonly is?: Json;
  readonly not?: Json;
  /** Equal to one of these. */
  readonly in?: readonly Json[];
  readonly not_in?: readonly Json[];
  /**
   * Of a list: it has one of these, it has all of them, or it has no others. A `*` in the list
   * stands for a value that is not known, so it meets each one where a rule denies or asks.
   */
  readonly any?: readonly Json[];
  readonly all?: readonly Json[];
  readonly only?: readonly Json[];
  /** Minimum and maximum of a number, both inclusive. */
  readonly min?: number;
  readonly max?: number;
  /** A text that this pattern of the grammar matches, such as `fs:/repo/**`. */
  readonly matches?: string;
}

/** A pattern of tool calls. A call matches if its tool matches and all conditions hold. */
export interface CallPattern {
  /** The name of a tool, a group of tools such as `bank.*`, or `**` for all tools. */
  readonly tool: string;
  /** Of the call's input, in order. The first that does not hold ends the pattern. */
  readonly where?: readonly Condition[];
}

/** One row. It applies if its action, principal, scopes and calls match and all conditions hold. */
export interface Rule {
  readonly id: string;
  readonly effect: Verdict;
  /** Patterns of action names. */
  readonly actions: readonly string[];
  /** Patterns of principals. Absent: any principal. */
  readonly principals?: readonly string[];
  /** Names of roles. Absent: any. */
  readonly roles?: readonly string[];
  /**
   * Patterns of resources. Absent: any. An `allow` rule applies if it contains every scope of the
   * action. The others apply if they overlap one scope.
   */
  readonly scopes?: readonly string[];
  /** In order. The first that does not hold ends the row. */
  readonly where?: readonly Condition[];
  /**
   * Patterns of the proposal's calls. Absent: any calls. An `allow` rule applies if there is a call
   * and every call matches a pattern. The others apply if some call matches. An empty list: only a
   * proposal without calls.
   */
  readonly calls?: readonly CallPattern[];
  /** A sentence for people. */
  readonly because?: string;
}

export interface RuleTable {
  readonly id: string;
  readonly rules: readonly Rule[];
  /** The decision if no row applies. */
  readonly otherwise: 'allow' | 'deny';
}
