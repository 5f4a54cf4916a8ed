import { AssizeError } from '#base';

/** Misuse of provenance, or a stored text that is not valid. */
export class ProvenanceError extends AssizeError<never> {
  override readonly name = 'ProvenanceError';
}
