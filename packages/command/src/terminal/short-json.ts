import type { Json } from 'assize/internal/base';
import { canonicalize, WORLD_LIMITS } from 'assize/internal/canon';

/** Maximum number of characters of a value in a table; --json has all of it. */
const SHOWN_MAX = 60;

/** The start of a value's canonical text, and the number of missing characters. */
export function shortJson(value: Json, shownMax: number = SHOWN_MAX): string {
  return shortText(canonicalize(value, WORLD_LIMITS), shownMax);
}

/** The start of a text, and the number of missing characters. */
export function shortText(text: string, shownMax: number): string {
  return text.length <= shownMax
    ? text
    : `${text.slice(0, shownMax)} … ${text.length - shownMax} more characters`;
}
