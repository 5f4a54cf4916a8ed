import type { Json } from '#base';
import type { Verdict } from './policy.ts';

/**
 * A test of one place in the arguments. All tests given must hold. A place that is absent, or not a number where `min` or
 * `max` needs one, is an error, and errors deny: put a condition with `exists` before one on an optional argument.
 */
export interface Condition {
  /** JSON pointer into the arguments. */
  readonly path: string;
  /** Whether there is a value. An error only where what stands above it could have none, and who reads it might find it elsewhere. */
  readonly exists?: boolean;
  /** Equal to this value. */
  readonly is?: Json;
  readonly not?: Json;
  /** Equal to one of these. */
  readonly in?: readonly Json[];
  readonly not_in?: readonly Json[];
  /** A number, at least and at most; both ends belong to it. */
  readonly min?: number;
  readonly max?: number;
  /** A text that this pattern of the grammar covers, such as `fs:/repo/**`. */
  readonly matches?: string;
}

/** One row. It applies when its action, principal and scopes fit and all conditions hold. */
export interface Rule {
  readonly id: string;
  readonly effect: Verdict;
  /** Patterns of action names. */
  readonly actions: readonly string[];
  /** Patterns of principals; absent: anyone. */
  readonly principals?: readonly string[];
  /** Names of roles; absent: any. */
  readonly roles?: readonly string[];
  /**
   * Patterns of resources; absent: any. An `allow` rule applies when it contains every scope of the action, the others
   * when they meet one of them.
   */
  readonly scopes?: readonly string[];
  /** In order; the first that does not hold ends the row. */
  readonly where?: readonly Condition[];
  /** A sentence for people. */
  readonly because?: string;
}

export interface RuleTable {
  readonly id: string;
  readonly rules: readonly Rule[];
  /** When no row applies. */
  readonly otherwise: 'allow' | 'deny';
}
