import type { Json } from '#base';
import { WORLD_LIMITS } from './limits.ts';
import { parseCanonical } from './parse-canonical.ts';

/**
 * The value of a text that was found canonical before, or was written here: reads it without checking again.
 * `JSON.parse` alone would not do, because Node 24's can misread names that have escapes (nodejs/node#63785).
 *
 * @throws CanonError `not_canonical`: the text was changed since
 */
export function readCanonical(text: string): Json {
  if (typeof text !== 'string' || text.includes('\\')) return parseCanonical(text, WORLD_LIMITS);
  try {
    return JSON.parse(text) as Json;
  } catch {
    // Which says what is wrong with it.
    return parseCanonical(text, WORLD_LIMITS);
  }
}
