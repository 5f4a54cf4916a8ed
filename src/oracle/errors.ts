import { AssizeError, type ErrorDetails } from '#base';

/**
 * - `oracle_miss`: a replay asked what the log does not hold; evidence `{key, scope, request, theta}`.
 * - `erased`: an entry has erased the answer; it is not asked again; evidence `{key, by}`, the entry's id.
 * - `bad_question`: the question can't be a key; evidence `{member, problem}` or the pointer of what is not JSON.
 * - `bad_answer`: a call answered with something that is not JSON; nothing was recorded; evidence `{key}`.
 * - `asks_itself`: a question was asked by the call that answers it, itself or by others that wait for it; evidence `{key}`.
 * - `oracle_corrupt`: the store holds something else than a canonical answer under that key; evidence `{key}`.
 * - `bad_clock`: a test clock or a recorded one without an instant; evidence `{given}`.
 * - `bad_size`: a number of random bytes that is not whole or out of bounds; evidence `{size}`.
 */
export type OracleErrorCode =
  | 'oracle_miss'
  | 'erased'
  | 'bad_question'
  | 'bad_answer'
  | 'asks_itself'
  | 'oracle_corrupt'
  | 'bad_clock'
  | 'bad_size';

/** What the oracle log can't do. What a call itself throws passes through unchanged. */
export class OracleError extends AssizeError<OracleErrorCode> {
  override readonly name = 'OracleError';

  constructor(code: OracleErrorCode, message: string, details: ErrorDetails = {}) {
    super(code, message, details);
  }
}
