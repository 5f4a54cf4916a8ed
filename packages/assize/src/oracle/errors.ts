import { AssizeError, type ErrorDetails, type GeneralCode } from '#base';

export type OracleErrorCode =
  /**
   * The oracle log has no answer to a question of a replay. Replay with the log and the code of the
   * recording. Evidence `{key, scope, request, theta}`.
   */
  'oracle_miss';

/**
 * A question without an answer in the oracle log. Errors of the call itself pass through unchanged.
 */
export class OracleError extends AssizeError<OracleErrorCode> {
  override readonly name = 'OracleError';

  constructor(code: OracleErrorCode | GeneralCode, message: string, details: ErrorDetails = {}) {
    super(code, message, details);
  }
}
