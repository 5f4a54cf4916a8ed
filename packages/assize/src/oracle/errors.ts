import { AssizeError, type ErrorDetails, type GeneralCode } from '#base';

export type OracleErrorCode =
  /**
   * The oracle log has no answer to a question of a replay. Replay with the log and the code of the
   * recording. Evidence `{key, scope, request, theta}`.
   */
  | 'oracle_miss'
  /**
   * The question is not valid, because a field is not JSON or has a wrong form. Correct the field.
   * Evidence `{member, problem}`, or the pointer of the value.
   */
  | 'bad_question'
  /**
   * A question was asked by the call that answers it, directly or through others. Break the cycle.
   * Evidence `{key}`.
   */
  | 'asks_itself'
  /**
   * The stored answer under the key is not canonical. Restore the store from a backup. Evidence
   * `{key}`.
   */
  | 'oracle_corrupt'
  /**
   * A test clock or recorded clock has no valid instant. Start it at an instant such as
   * `2026-03-23T09:00:00.000000Z`. Evidence `{given}`.
   */
  | 'bad_clock'
  /**
   * The number of random bytes is not whole or out of bounds. Ask for a number in bounds. Evidence
   * `{size}`.
   */
  | 'bad_size';

/**
 * A question without an answer in the oracle log. Errors of the call itself pass through unchanged.
 */
export class OracleError extends AssizeError<OracleErrorCode> {
  override readonly name = 'OracleError';

  constructor(code: OracleErrorCode | GeneralCode, message: string, details: ErrorDetails = {}) {
    super(code, message, details);
  }
}
