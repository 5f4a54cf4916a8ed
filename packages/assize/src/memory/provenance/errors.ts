import { AssizeError } from '#base';

export type ProvenanceErrorCode =
  /**
   * The text is not a token of a write or of trust. Correct the token. Evidence `{text, problem}`.
   */
  | 'bad_token'
  /**
   * The text is not a canonical polynomial. Rebuild memory if the text was stored. Evidence `{text,
   * problem}`, with the text truncated.
   */
  | 'bad_polynomial';

/** Misuse of provenance, or a stored text that is not valid. */
export class ProvenanceError extends AssizeError<ProvenanceErrorCode> {
  override readonly name = 'ProvenanceError';
}
