import type { Rule } from '../domain/domain.ts';
import type { InvariantResult } from '../domain/invariant-result.ts';
import type { Keys } from '../domain/keys.ts';

/** What a rule says of the state at one place. */
export interface Judged {
  readonly rule: Rule;
  /** For `each` what the stars stand for; for rules over groups the group, or nothing for all; empty for a plain rule. */
  readonly keys: Keys;
  readonly result: InvariantResult;
}

/** A rule that does not pass, and where. */
export interface Finding extends Judged {
  readonly result: Exclude<InvariantResult, { result: 'pass' }>;
}
