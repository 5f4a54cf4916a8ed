import type { Rule } from '../domain/domain.ts';
import type { InvariantResult } from '../domain/invariant-result.ts';
import type { Keys } from '../domain/keys.ts';

/** The result of a rule on the state at one place. */
export interface RuleResult {
  readonly rule: Rule;
  /**
   * For `each`, the keys of the stars. For rules over groups, the group, or nothing for all. For
   * `eachCall`, the index of the call and its tool. Empty for a plain rule.
   */
  readonly keys: Keys;
  readonly result: InvariantResult;
}

/** A rule that does not pass, and its place. */
export interface Finding extends RuleResult {
  readonly result: Exclude<InvariantResult, { result: 'pass' }>;
}
