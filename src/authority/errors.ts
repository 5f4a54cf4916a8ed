import { AssizeError, type ErrorDetails } from '#base';

/**
 * Codes of misuse and of documents that are not what they should be. What a valid writ does not grant is not an error:
 * it is a refusal, see `WritRefusalCode`.
 *
 * - `bad_resource`: an action, scope or pattern that the grammar refuses; evidence `{text, problem}`.
 * - `bad_writ`: not a writ of version 1; evidence `{pointer, problem}`.
 * - `wrong_key`: the private key is not the issuer's; evidence `{issuer}`.
 * - `not_attenuated`: a child wider than its parent; evidence `{axis, parent, child}`.
 * - `bad_instant`: a time that is not in the one accepted form; evidence `{text}`.
 * - `bad_amount`: a cost or grant that is not whole, not safe or negative; evidence `{unit, amount}`.
 * - `unknown_writ`: a budget was asked for a writ that was never granted; evidence `{writ_id}`.
 * - `budget_exhausted`: spending without asking `covers` first; evidence `{writ_id, unit, left, cost, short}`.
 * - `over_refunded`: giving back more than was spent; evidence `{writ_id, unit, spent, cost}`.
 * - `writ_conflict`: two different grants under one writ id; evidence `{writ_id}`.
 * - `bad_policy`: a rule table that can't be read; evidence `{pointer, problem}`.
 */
export type AuthorityErrorCode =
  | 'bad_resource'
  | 'bad_writ'
  | 'wrong_key'
  | 'not_attenuated'
  | 'bad_instant'
  | 'bad_amount'
  | 'unknown_writ'
  | 'budget_exhausted'
  | 'over_refunded'
  | 'writ_conflict'
  | 'bad_policy';

/** Misuse of this floor, or a document it can't accept. Never a refusal of an agent's request. */
export class AuthorityError extends AssizeError<AuthorityErrorCode> {
  override readonly name = 'AuthorityError';

  constructor(code: AuthorityErrorCode, message: string, details: ErrorDetails = {}) {
    super(code, message, details);
  }
}
