import { AssizeError } from '#base';

export type ExtractionErrorCode =
  /**
   * The list of messages is empty, has an id twice, or has a message that can't be a source.
   * Correct the message. Evidence `{message}`.
   */
  | 'bad_messages'
  /**
   * The terms allow no claim: no predicate, an unusable subject, or a number out of bounds. Correct
   * the term. Evidence `{term}`.
   */
  | 'bad_terms'
  /**
   * The model's answers do not have the requested form, even after its errors were shown to it. Use
   * another model or fewer messages. Evidence `{wrong, attempts}`, and with an oracle log
   * `{oracle_keys}`.
   */
  | 'bad_extraction';

/**
 * Messages, terms or model answers that give no claims. Errors of the model or the oracle log pass
 * through unchanged.
 */
export class ExtractionError extends AssizeError<ExtractionErrorCode> {
  override readonly name = 'ExtractionError';
}
