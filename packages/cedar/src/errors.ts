import { AssizeError } from 'assize/internal/base';

/**
 * A Cedar schema or policy that can't be used. A policy that was accepted answers with decisions
 * and never with errors.
 */
export class CedarError extends AssizeError<never> {
  override readonly name = 'CedarError';
}

/** All that is wrong, each in a sentence; Cedar's own words where Cedar said it. */
export function refused(what: 'schema' | 'policies', problems: readonly string[]): CedarError {
  return new CedarError('bad_input', `The Cedar ${what} cannot be used: ${problems.join('; ')}.`, {
    evidence: { problems },
  });
}
