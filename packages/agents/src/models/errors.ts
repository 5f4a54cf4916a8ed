import { AssizeError } from 'assize/internal/base';

export type ModelErrorCode =
  /**
   * An option of a model or of its agent is not valid. Correct the option that the message names.
   * Evidence `{option}`.
   */
  | 'bad_model_option'
  /**
   * The provider refused the API key or its rights. Check the key and the account. Evidence
   * `{status}`.
   */
  | 'key_refused'
  /**
   * The provider knows no such model or address. Check the name of the model and the base URL.
   * Evidence `{status}`.
   */
  | 'model_not_found'
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
  /** No connection to the provider could be made. Check the base URL and the network. */
  | 'unreachable'
  /**
   * The provider did not answer within the time limit. Run again, or raise `timeoutMs`. Evidence
   * `{timeoutMs}`.
   */
  | 'model_timeout'
  /** The connection ended before the answer was complete. Run again. */
  | 'answer_cut'
  /**
   * The answer has another content type than JSON. Check that the base URL is that of the API.
   * Evidence `{contentType}`.
   */
  | 'wrong_content_type'
  /** The body of the answer is not JSON. Check the base URL, or run again. */
  | 'answer_not_json'
  /**
   * The answer is JSON of another form than the protocol has. Check that the server speaks it.
   * Evidence `{pointer}`.
   */
  | 'wrong_protocol'
  /**
   * The answer has more bytes than allowed. Raise `bytesMax`, or limit the output with `maxTokens`.
   * Evidence `{bytesMax}`.
   */
  | 'answer_too_long'
  /**
   * The model stopped at its token limit, so its decision is incomplete. Raise `maxTokens`, or show
   * the role less.
   */
  | 'token_limit'
  /**
   * The model, or a filter of the provider, declined to answer. Change the instructions or the data
   * that the role sees.
   */
  | 'content_filtered'
  /**
   * After all attempts the answer of the model has no decision: no tool call and no JSON object
   * with an action. Use another model, or clearer instructions; a new run asks again.
   */
  | 'no_decision'
  /**
   * After all attempts the model calls an action that its role does not have. Use another model, or
   * clearer instructions; a new run asks again.
   */
  | 'unknown_action'
  /**
   * After all attempts the model makes several calls, and one decision is one call. Use another
   * model, or clearer instructions; a new run asks again.
   */
  | 'several_calls'
  /**
   * After all attempts the arguments of the model's call are not JSON. Use another model; a new run
   * asks again.
   */
  | 'bad_arguments';

/**
 * A model that could not be asked, or that gave no usable answer. No answer is recorded, so a new
 * run asks again. Neither message nor evidence contains an API key.
 */
export class ModelError extends AssizeError<ModelErrorCode> {
  override readonly name = 'ModelError';
}

/** @throws ModelError `bad_model_option` */
export function badOption(option: string, problem: string): ModelError {
  return new ModelError('bad_model_option', `The option ${option} is not valid: ${problem}.`, {
    evidence: { option },
  });
}
