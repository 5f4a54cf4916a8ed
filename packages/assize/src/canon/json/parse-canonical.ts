import type { Json } from '#base';
import { CanonError } from './canon-error.ts';
import { canonicalize } from './canonicalize.ts';
import { type CanonLimits, completeLimits } from './limits.ts';
import { hasNoSurrogateEscape, isOrderly } from './orderly.ts';
import { parseStrict } from './parse-strict.ts';

/**
 * The value of a stored text. The text must be canonical.
 *
 * @throws CanonError `not_canonical` unless `canonicalize(parse(text), limits) === text`,
 * regardless of other faults. The cause reports a text that cannot be read or written. The evidence
 * holds the first difference between the two texts.
 */
export function parseCanonical(text: string, limits?: Partial<CanonLimits>): Json {
  const settings = completeLimits(limits);
  if (typeof text !== 'string') throw notCanonical('', '');
  return parseFast(text, settings) ?? parseByDefinition(text, settings);
}

/** The value if the text is certainly canonical, otherwise undefined. */
function parseFast(text: string, limits: CanonLimits): Json | undefined {
  if (text.length * 3 > limits.bytesMax && Buffer.byteLength(text) > limits.bytesMax)
    return undefined;
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch {
    // The strict reader runs next and reports the fault and its place.
    return undefined;
  }
  return isCanonical(value, text, limits) ? value : undefined;
}

function parseByDefinition(text: string, limits: CanonLimits): Json {
  let value: Json;
  let again: string;
  try {
    // `JSON.parse` can misread names with escapes (see `parse-strict.ts`).
    value = parseStrict(text, limits);
    again = canonicalize(value, limits);
  } catch (cause) {
    throw notCanonical(text, '', cause);
  }
  if (again !== text) throw notCanonical(text, again);
  return value;
}

/**
 * True only if the text is canonical and encodes this value. Also false if this method cannot
 * decide.
 */
function isCanonical(value: Json, text: string, limits: CanonLimits): boolean {
  // The depth is checked first, because writing could overflow the stack.
  return isOrderly(value, limits) && hasNoSurrogateEscape(text) && JSON.stringify(value) === text;
}

function notCanonical(text: string, again: string, cause?: unknown): CanonError {
  let offset = 0;
  while (offset < again.length && again[offset] === text[offset]) offset += 1;
  return new CanonError('not_canonical', '', 'The text is not the canonical JSON of its value.', {
    evidence: { offset },
    cause,
  });
}
