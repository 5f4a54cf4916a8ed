import { arg, checkArgument, GenerationalMap } from '#base';
import { normalForm } from '#canon';
import { stem } from './stem.ts';
import { STOP_WORDS } from './stop-words.ts';

/** Maximum number of indexed words of a text, and of significant letters of a word. */
export const WORDS_MAX = 10_000;
const LETTERS_MAX = 64;

/** Number of cached stems, for all states of this thread. */
const STEMS = new GenerationalMap<string, string>(20_000);

/** Evicts all cached words, after an erasure or when a store closes. */
export function forgetWords(): void {
  STEMS.clear();
  // The engine keeps the last matched text, so match an empty one.
  /^/.test('');
}

/**
 * Characters that do not change a word: accents, points of Hebrew, Arabic and Syriac, elongation,
 * and invisible characters.
 */
const UNREAD =
  /[\u0300-\u036f\u0640\p{Default_Ignorable_Code_Point}[\p{Mn}&&[\p{scx=Hebrew}\p{scx=Arabic}\p{scx=Syriac}]]]/gv;

/** Lower-case letters that share their capitals with others. */
const ALIKE: Readonly<Record<string, string>> = { ß: 'ss', ς: 'σ', ı: 'i' };

/** A day; a number with a point; or letters, marks and digits, joined by apostrophes. */
const WORD = /\d{4}-\d{2}-\d{2}|\d+(?:\.\d+)+|[\p{L}\p{M}\p{N}]+(?:['’][\p{L}\p{M}]+)*/gu;

/** Scripts without spaces between words. */
const SCRIPTS = ['Han', 'Hiragana', 'Katakana', 'Thai', 'Lao', 'Khmer', 'Myanmar']
  .map((name) => `\\p{scx=${name}}`)
  .join('');
const UNSPACED = new RegExp(`[${SCRIPTS}]`, 'u');
const RUNS = new RegExp(`[${SCRIPTS}]+|[^${SCRIPTS}]+`, 'gu');
const UNSPACED_RUNS = new RegExp(`[${SCRIPTS}]+`, 'gu');

/** Han, including characters that normalise to Han. */
const HAN = /\p{sc=Han}/u;
const MAYBE_HAN = /[\u2e80-\uffff]/;

const APOSTROPHE = /['’]/;

/** An elided vowel before another vowel or an h: `l'été`, `d'un`, `qu'elle`, `dell'acqua`. */
const ELISION = /(?<=[b-df-hj-np-tv-xz]|qu)['’](?=[aeiouyhœæ])/g;

/**
 * The search words of a text in order, with repetitions; with `lettersOf` also its index words.
 * Words are in lower case, without accents, points, soft hyphens and invisible characters. English
 * words are stemmed (Porter 1980), without stop words unless the text has no others.
 *
 * Words joined by an apostrophe are one word; after an elision the second part is also a separate
 * word. Scripts without spaces yield pairs of letters. Words contain only letters, marks, digits,
 * points and hyphens, so they have no meaning in a query language.
 * @throws ArgumentError `bad_argument`
 */
export function wordsOf(text: string): string[] {
  checkArgument(arg.text, text, 'text');
  const { words, stopWords } = termsIn(text);
  return words.length > 0 ? words : stopWords;
}

/**
 * The letters of a text that are words on their own but have neighbours, so `wordsOf` has them only
 * in pairs. With them a search for one letter finds the text. Only Han.
 */
export function lettersOf(text: string): string[] {
  if (!MAYBE_HAN.test(text)) return [];
  const runs = (plain(text).match(WORD) ?? []).flatMap((word) => word.match(UNSPACED_RUNS) ?? []);
  return runs.flatMap((run) => {
    const letters = [...run];
    return letters.length === 1 ? [] : letters.filter((letter) => HAN.test(letter));
  });
}

/**
 * All words of a text of any length, in the same forms, including stop words.
 * @throws ArgumentError `bad_argument`
 */
export function everyWordOf(text: string): ReadonlySet<string> {
  checkArgument(arg.text, text, 'text');
  const every = new Set<string>();
  for (const bare of bareWords(text)) every.add(STOP_WORDS.has(bare) ? bare : termOf(bare));
  return every;
}

/** Both with repetitions. Stop words are not collected after the first other word. */
function termsIn(text: string): { readonly words: string[]; readonly stopWords: string[] } {
  const words: string[] = [];
  const stopWords: string[] = [];
  for (const bare of bareWords(text)) {
    if (!STOP_WORDS.has(bare)) words.push(termOf(bare));
    else if (words.length === 0 && stopWords.length < WORDS_MAX) stopWords.push(bare);
    if (words.length === WORDS_MAX) break;
  }
  return { words, stopWords };
}

/** Lower-case words without ignored characters, with repetitions. */
function bareWords(text: string): readonly string[] {
  const bare = plain(text);
  const found = bare.match(WORD) ?? [];
  // Most texts have neither kind.
  const words = UNSPACED.test(bare) ? found.flatMap((word) => (UNSPACED.test(word) ? unspaced(word) : [word])) : found;
  if (!APOSTROPHE.test(bare)) return words;
  return words.flatMap((word) => (APOSTROPHE.test(word) ? withoutApostrophe(word) : word));
}

/**
 * The word without an English genitive. After an elision also the second part alone, within the
 * significant letters.
 */
function withoutApostrophe(word: string): string[] {
  const parts = word
    .replace(/['’]s$/, '')
    .split(ELISION)
    .map((part) => part.replace(/['’]/g, ''));
  const words: string[] = [];
  let behind = '';
  // Backwards, so each step takes the same time.
  for (const part of parts.reverse()) {
    behind = part + behind.slice(0, 2 * LETTERS_MAX);
    words.push(behind);
  }
  return words.reverse();
}

function plain(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII is meant
  if (/^[\u0000-\u007f]*$/.test(text)) return text.toLowerCase();
  return normalForm(normalForm(text, 'NFKD').replace(UNREAD, ''), 'NFC')
    .toLowerCase()
    .replace(/[ßςı]/g, (letter) => ALIKE[letter]!);
}

function termOf(bare: string): string {
  const known = STEMS.get(bare);
  if (known !== undefined) return known;
  const term = /^[a-z]+$/.test(bare) ? stem(bare.slice(0, LETTERS_MAX)) : [...bare].slice(0, LETTERS_MAX).join('');
  // A longer word would be cached as a whole.
  if (bare.length <= LETTERS_MAX) STEMS.set(bare, term);
  return term;
}

/** Each pair of adjacent letters in a run. A single letter stays alone. */
function unspaced(text: string): string[] {
  return (text.match(RUNS) ?? []).flatMap((run) => {
    const letters = [...run];
    if (!UNSPACED.test(run) || letters.length === 1) return [run];
    return letters.slice(1).map((letter, at) => letters[at]! + letter);
  });
}
