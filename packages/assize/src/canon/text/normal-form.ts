import type { Json } from '#base';
import { CanonError } from '../json/canon-error.ts';
import { copyJson } from '../json/copy.ts';
import { escapeSegment } from '../json/pointer.ts';

/** Number of consecutive marks from which marks stay unsorted. Natural text rarely has thirty. */
const MARKS_MAX = 100;

/** The last two characters become marks in a compatibility form. */
const MANY_MARKS = new RegExp(`([\\p{M}\\uff9e\\uff9f]{${MARKS_MAX + 1},})`, 'u');

/**
 * Normalises a text to a Unicode form. The engine sorts consecutive marks in quadratic time: 16,384
 * marks block the thread for more than a second. A sequence of more than 100 marks therefore stays
 * unsorted, and the text around it is normalised separately.
 */
export function normalForm(text: string, form: 'NFC' | 'NFKD'): string {
  return text
    .split(MANY_MARKS)
    .map((part, n) => (n % 2 === 0 ? part.normalize(form) : part))
    .join('');
}

/**
 * Texts without these characters are in composed form. The test is faster than the normalisation.
 */
const BEYOND_LATIN = /[\u0300-\uffff]/;

/**
 * The composed form (NFC) of a text: the one rule by which two texts are equal
 * (docs/decisions/022-equal-texts.md).
 */
export function composed(text: string): string {
  return BEYOND_LATIN.test(text) ? normalForm(text, 'NFC') : text;
}

/**
 * A JSON value with every text and every member name in composed form. Returns the value itself if
 * all of it is composed.
 *
 * @throws CanonError `bad_input` for an object with two names of the same composed form
 */
export function composedJson(value: Json): Json {
  return isBeyondLatin(value) ? composedAt(value, '') : value;
}

/** Whether a text or a name in it may be in another form. Most values have none, at no cost. */
function isBeyondLatin(value: Json): boolean {
  if (typeof value === 'string') return BEYOND_LATIN.test(value);
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return value.some(isBeyondLatin);
  for (const name in value)
    if (BEYOND_LATIN.test(name) || isBeyondLatin((value as Members)[name]!)) return true;
  return false;
}

function composedAt(value: Json, pointer: string): Json {
  if (typeof value === 'string') return composed(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const items = value.map((item, index) => composedAt(item, `${pointer}/${index}`));
    return items.some((item, index) => item !== value[index]) ? items : value;
  }
  return composedMembers(value as Members, pointer);
}

type Members = { readonly [name: string]: Json };

function composedMembers(value: Members, pointer: string): Json {
  const made = new Map<string, Json>();
  let isSame = true;
  for (const name of Object.keys(value)) {
    const at = `${pointer}/${escapeSegment(name)}`;
    const named = composed(name);
    const item = composedAt(value[name]!, at);
    if (made.has(named))
      throw new CanonError(
        'bad_input',
        at,
        `Two names of an object have the same composed form (NFC), at ${at}.`,
      );
    made.set(named, item);
    isSame &&= named === name && item === value[name];
  }
  // The copy has its members in canonical order, whatever the names were before.
  return isSame ? value : copyJson(Object.fromEntries(made));
}
