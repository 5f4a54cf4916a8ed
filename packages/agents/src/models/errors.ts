import { AssizeError } from 'assize/internal/base';

export type ModelErrorCode =
  /**
   * The provider refused the API key or its rights. Check the key and the account. Evidence
   * `{status}`.
   */
  | 'key_refused'
  /**
   * The provider refused the request: a parameter, a schema or the size of the prompt. Correct what
   * the message quotes. Evidence `{status}`.
   */
  | 'request_refused'
  /**
   * The provider limits the rate, also after the allowed retries. Run again later. Evidence
   * `{status, afterMs}`.
   */
  | 'rate_limited'
  /**
   * The provider failed or is overloaded, also after the allowed retries. Run again later. Evidence
   * `{status}`.
   */
  | 'provider_failed'
  /**
   * The provider did not answer within the time limit. Run again, or raise `timeoutMs`. Evidence
   * `{timeoutMs}`.
   */
  | 'model_timeout'
  /**
   * The model stopped at its token limit, so its decision is incomplete. Raise `maxTokens`, or show
   * the role less.
   */
  | 'token_limit'
  /**
   * The model, or a filter of the provider, declined to answer. Change the instructions or the data
   * that the role sees.
   */
  | 'content_filtered';

/**
 * A model that could not be asked, or that gave no usable answer. No answer is recorded, so a new
 * run asks again. Neither message nor evidence contains an API key.
 */
export class ModelError extends AssizeError<ModelErrorCode> {
  override readonly name = 'ModelError';
}

/** @throws ModelError `bad_argument` */
export function badOption(option: string, problem: string): ModelError {
  return new ModelError('bad_argument', `The option ${option} is not valid: ${problem}.`, {
    evidence: { option },
  });
}
