import { AssizeError } from '#base';

export type ExtractionErrorCode =
  /** There is no message, two have one id, one can't be a source, or says no time and there is no reference; evidence `{message}`. */
  | 'bad_messages'
  /** Nothing could be said under these terms: no predicate, a subject that can't be one, a number out of bounds; evidence `{term}`. */
  | 'bad_terms'
  /**
   * The model’s answers are not of the form that it was asked for, also after it was told what is wrong; evidence `{wrong, attempts}`,
   * and where the oracle log is asked by it, `{oracle_keys}` of the answers.
   */
  | 'bad_extraction';

/** Why nothing is said of messages. What the model or the oracle log throws passes through unchanged. */
export class ExtractionError extends AssizeError<ExtractionErrorCode> {
  override readonly name = 'ExtractionError';
}
