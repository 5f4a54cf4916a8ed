import { AssizeError } from 'assize/internal/base';

export type ExtractionErrorCode =
  /**
   * The list of messages is empty, has an id twice, or has a message that is not a valid source.
   * Correct the message. Evidence `{message}`.
   */
  | 'bad_messages'
  /**
   * The terms are not valid: no predicate, an invalid subject, or a number out of bounds. Correct
   * the term. Evidence `{term}`.
   */
  | 'bad_terms'
  /**
   * The model's answers do not have the requested form, even after a retry with the errors. Use
   * another model or fewer messages. Evidence `{wrong, attempts}`, and with an oracle log
   * `{oracle_keys}`.
   */
  | 'bad_extraction';

/**
 * Messages, terms or model answers without claims. Errors of the model or the oracle log pass
 * through unchanged.
 */
export class ExtractionError extends AssizeError<ExtractionErrorCode> {
  override readonly name = 'ExtractionError';
}
