import type { Json } from '#base';
import { WORLD_LIMITS } from './limits.ts';
import { parseCanonical } from './parse-canonical.ts';

/**
 * The value of a text that was verified as canonical before, or was written here. Reads it without
 * a second check. `JSON.parse` alone is not enough, because Node 24 can misread names with escapes
 * (nodejs/node#63785).
 *
 * @throws CanonError `not_canonical`: the text was changed since
 */
export function readCanonical(text: string): Json {
  if (typeof text !== 'string' || text.includes('\\')) return parseCanonical(text, WORLD_LIMITS);
  try {
    return JSON.parse(text) as Json;
  } catch {
    // `parseCanonical` reports the fault.
    return parseCanonical(text, WORLD_LIMITS);
  }
}
