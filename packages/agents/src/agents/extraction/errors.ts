import { AssizeError } from 'assize/internal/base';

export type ExtractionErrorCode =
  /**
   * The model's answers do not have the requested form, even after a retry with the errors. Use
   * another model or fewer messages. Evidence `{wrong, attempts}`, and with an oracle log
   * `{oracle_keys}`.
   */
  'bad_extraction';

/**
 * Messages, terms or model answers without claims. Errors of the model or the oracle log pass
 * through unchanged.
 */
export class ExtractionError extends AssizeError<ExtractionErrorCode> {
  override readonly name = 'ExtractionError';
}
