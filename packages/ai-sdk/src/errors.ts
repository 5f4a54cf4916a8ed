import { AssizeError } from 'assize/internal/base';

export type AiSdkErrorCode =
  /**
   * The call has no run, so a repetition could not be known. Pass `run` in the options: the id of
   * the conversation. Evidence `{tool}`.
   */
  | 'no_run'
  /**
   * The tool has `needsApproval` of its own. Write a rule that asks, and remove it: the rules
   * decide about every call. Evidence `{tool}`.
   */
  | 'own_approval'
  /**
   * `assizeApproval` is given tools that no gate has. Pass the tools that `assizeTools` returns.
   */
  | 'no_gated_tool'
  /**
   * The input of a call is no object of data, so it cannot be judged. Use a schema that gives
   * objects. Evidence `{tool}`.
   */
  | 'bad_call'
  /**
   * A question to a model, or its answer, is no data that the log can keep. Leave out the part that
   * is a function or an object of a class. Evidence `{model}`.
   */
  | 'not_data'
  /**
   * Another process recorded a different answer while this one was streamed. Run again: the
   * recorded answer counts. Evidence `{model}`.
   */
  | 'answered_before';

/** A tool call or a question to a model that cannot be judged or recorded. */
export class AiSdkError extends AssizeError<AiSdkErrorCode> {
  override readonly name = 'AiSdkError';
}
