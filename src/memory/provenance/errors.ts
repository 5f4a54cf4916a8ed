import { AssizeError } from '#base';

/**
 * - `bad_token`: what is no name of a write event or of trust; evidence `{text, problem}`.
 * - `bad_polynomial`: a text that is no polynomial, or not the canonical one; evidence `{text, problem}`, the text cut short.
 */
export type ProvenanceErrorCode = 'bad_token' | 'bad_polynomial';

/** Misuse of provenance, or a stored text of it that can't be read. */
export class ProvenanceError extends AssizeError<ProvenanceErrorCode> {
  override readonly name = 'ProvenanceError';
}
