import { AssizeError } from '#base';

export type ProvenanceErrorCode =
  /** The text is no token of a write or of trust. Correct the token. Evidence `{text, problem}`. */
  | 'bad_token'
  /**
   * The text is no polynomial, or not the canonical one. Rebuild memory if the text was stored.
   * Evidence `{text, problem}`, the text cut short.
   */
  | 'bad_polynomial';

/** Misuse of provenance, or a stored text of it that can't be read. */
export class ProvenanceError extends AssizeError<ProvenanceErrorCode> {
  override readonly name = 'ProvenanceError';
}
