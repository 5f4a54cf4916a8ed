import { AssizeError, type ErrorDetails } from '#base';

export type OracleErrorCode =
  /**
   * A replay asked a question that the oracle log has no answer to. Replay with the log and the
   * code of the recording. Evidence `{key, scope, request, theta}`.
   */
  | 'oracle_miss'
  /**
   * An entry has erased the answer, and the oracle does not ask again. Ask another question if a
   * new answer is wanted. Evidence `{key, by}`, the id of the entry.
   */
  | 'erased'
  /**
   * The question can't be a key, because a member is not JSON or has a wrong form. Correct the
   * member. Evidence `{member, problem}`, or the pointer of the value.
   */
  | 'bad_question'
  /**
   * The call answered with a value that is not JSON, and nothing was recorded. Return JSON from
   * `call`. Evidence `{key}`.
   */
  | 'bad_answer'
  /**
   * A question was asked by the call that answers it, directly or through others. Break the cycle.
   * Evidence `{key}`.
   */
  | 'asks_itself'
  /**
   * The store holds no canonical answer under the key. Restore the store from a backup. Evidence
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
 * A question that the oracle log can't answer. Errors of the call itself pass through unchanged.
 */
export class OracleError extends AssizeError<OracleErrorCode> {
  override readonly name = 'OracleError';

  constructor(code: OracleErrorCode, message: string, details: ErrorDetails = {}) {
    super(code, message, details);
  }
}
