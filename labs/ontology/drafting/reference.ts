import { OntologyError } from '../errors.ts';

/** Maximum number of characters of a reference, such as the text of BFO 2.0. */
export const REFERENCE_MAX = 600_000;

/** @throws OntologyError `reference_too_long` */
export function requireShortReference(text: string | undefined): void {
  if (text === undefined || text.length <= REFERENCE_MAX) return;
  throw new OntologyError(
    'reference_too_long',
    `The reference has ${text.length} characters; a model gets at most ${REFERENCE_MAX}. Pass a part of it.`,
    { evidence: { characters: text.length, characters_max: REFERENCE_MAX } },
  );
}
