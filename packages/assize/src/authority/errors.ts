import { AssizeError, type ErrorDetails, type GeneralCode } from '#base';

/**
 * Misuse, or a malformed document. A use that a valid writ does not grant is a refusal
 * (`WritRefusalCode`), not an error.
 */
export type AuthorityErrorCode =
  /**
   * An action, scope or pattern does not follow the grammar. Write segments between `:` and `/`,
   * and `**` only last. Evidence `{text, problem}`.
   */
  | 'bad_resource'
  /**
   * The private key does not belong to the issuer. Sign with the key of the issuer, or of the
   * subject of the parent. Evidence `{issuer}`.
   */
  | 'wrong_key'
  /**
   * The child writ exceeds its parent. Narrow the axis that the message names. Evidence `{axis,
   * parent, child}`.
   */
  | 'not_attenuated'
  /**
   * A cost or grant is negative, not whole, or not a safe integer. Pass a whole number from 0 up.
   * Evidence `{unit, amount}`.
   */
  | 'bad_amount'
  /** The budget has no such writ. Grant the writ before spending from it. Evidence `{writ_id}`. */
  | 'unknown_writ'
  /**
   * The refund is larger than the amount spent. Refund at most the amount spent. Evidence
   * `{writ_id, unit, spent, cost}`.
   */
  | 'over_refunded'
  /** Two different grants have one writ id. Use the grant in the ledger. Evidence `{writ_id}`. */
  | 'writ_conflict';

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
