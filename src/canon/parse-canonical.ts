import { CanonError } from './canon-error.ts';
import { canonicalize } from './canonicalize.ts';
import type { Json } from './errors.ts';
import { type CanonLimits, completeLimits } from './limits.ts';

/**
 * The value of a stored text, which must be its own canonical text.
 * @throws CanonError `not_canonical` unless `canonicalize(JSON.parse(text), limits) === text`; the cause says what else is
 * wrong, when it is more than the way of writing.
 */
export function parseCanonical(text: string, limits?: Partial<CanonLimits>): Json {
  const settings = completeLimits(limits);
  let again: string;
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
    again = canonicalize(value, settings);
  } catch (cause) {
    throw notCanonical(text, '', cause);
  }
  if (again !== text) throw notCanonical(text, again);
  return value;
}

function notCanonical(text: string, again: string, cause?: unknown): CanonError {
  let offset = 0;
  while (offset < again.length && again[offset] === text[offset]) offset += 1;
  return new CanonError('not_canonical', '', 'The text is not the canonical text of what it says.', {
    evidence: { offset },
    cause,
  });
}
