import type { Json } from '#base';
import { canonicalize, WORLD_LIMITS } from '#canon';

/** Characters of a value that are shown beside others in a table; --json has all of it. */
const SHOWN_MAX = 60;

/** The beginning of a value's canonical text, and how much is missing. */
export function shortJson(value: Json, shownMax: number = SHOWN_MAX): string {
  return shortText(canonicalize(value, WORLD_LIMITS), shownMax);
}

/** The beginning of a text, and how much is missing. */
export function shortText(text: string, shownMax: number): string {
  return text.length <= shownMax ? text : `${text.slice(0, shownMax)} … ${text.length - shownMax} more characters`;
}
