import { AssizeError, type ErrorDetails, type GeneralCode } from '#base';

/**
 * Misuse, or a malformed document. A use that a valid writ does not grant is a refusal
 * (`WritRefusalCode`), not an error.
 */
export type AuthorityErrorCode =
  /**
   * The child writ exceeds its parent. Narrow the axis that the message names. Evidence `{axis,
   * parent, child}`.
   */
  'not_attenuated';

/**
 * Misuse of writs, budgets or policies, or a malformed document. A refusal of an agent's request is
 * never an error.
 */
export class AuthorityError extends AssizeError<AuthorityErrorCode> {
  override readonly name = 'AuthorityError';

  constructor(code: AuthorityErrorCode | GeneralCode, message: string, details: ErrorDetails = {}) {
    super(code, message, details);
  }
}
