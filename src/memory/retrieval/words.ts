import { form, RecentMap, requireForm } from '#base';
import { normalForm } from '../normal-form.ts';
import { stem } from './stem.ts';
import { STOP_WORDS } from './stop-words.ts';

/** Words of one text that are indexed, and letters of one of them that count. */
export const WORDS_MAX = 10_000;
const LETTERS_MAX = 64;

/** Words whose stems are kept in memory: of all worlds of this thread. */
const STEMS = new RecentMap<string, string>(20_000);

/** Keeps no word in memory that a text had: of what is erased, or no longer open here. */
export function forgetWords(): void {
  STEMS.clear();
  // The engine keeps the text in which a pattern was found last.
  /^/.test('');
}

/** What a word is read the same without: accents, points of Hebrew, Arabic and Syriac, what stretches a word, and what nobody sees. */
const UNREAD =
  /[\u0300-\u036f\u0640\p{Default_Ignorable_Code_Point}[\p{Mn}&&[\p{scx=Hebrew}\p{scx=Arabic}\p{scx=Syriac}]]]/gv;

/** Small letters whose capitals are those of others. */
const ALIKE: Readonly<Record<string, string>> = { ß: 'ss', ς: 'σ', ı: 'i' };

/** A day; a number with a point; letters, marks and digits, with what an apostrophe joins. */
const WORD = /\d{4}-\d{2}-\d{2}|\d+(?:\.\d+)+|[\p{L}\p{M}\p{N}]+(?:['’][\p{L}\p{M}]+)*/gu;

/** Scripts that put no spaces between words. */
const SCRIPTS = ['Han', 'Hiragana', 'Katakana', 'Thai', 'Lao', 'Khmer', 'Myanmar']
  .map((name) => `\\p{scx=${name}}`)
  .join('');
const UNSPACED = new RegExp(`[${SCRIPTS}]`, 'u');
const RUNS = new RegExp(`[${SCRIPTS}]+|[^${SCRIPTS}]+`, 'gu');
const UNSPACED_RUNS = new RegExp(`[${SCRIPTS}]+`, 'gu');

/** Han, and before what is composed anew also what may become of it. */
const HAN = /\p{sc=Han}/u;
const MAYBE_HAN = /[\u2e80-\uffff]/;

const APOSTROPHE = /['’]/;

/** Where a vowel is left out before another one or an h: `l'été`, `d'un`, `qu'elle`, `dell'acqua`. */
const ELISION = /(?<=[b-df-hj-np-tv-xz]|qu)['’](?=[aeiouyhœæ])/g;

/**
 * The words of a text as they are looked for, and with `lettersOf` indexed, in order and as often as they stand there: in small letters and
 * without accents, points, soft hyphens and whatever is not seen; English ones by their stems (Porter 1980) and without those that stand
 * everywhere, unless it has no others; what an apostrophe joins as one word, and where it stands for a vowel what follows it by itself as
 * well; pairs of letters where a script has no spaces. They have letters, marks, digits, points and hyphens and nothing else, so that they mean
 * nothing to a query language.
 * @throws ArgumentError `bad_argument`
 */
export function wordsOf(text: string): string[] {
  requireForm(form.text, text, 'text');
  const { words, stopWords } = termsIn(text);
  return words.length > 0 ? words : stopWords;
}

/**
 * The letters of a text that are words by themselves and stand beside others, so that `wordsOf` has them in pairs: who looks for one letter finds it
 * as well. Han alone.
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
 * All words of a text, however long it is, in the same forms: also those that stand everywhere where it has others.
 * @throws ArgumentError `bad_argument`
 */
export function everyWordOf(text: string): ReadonlySet<string> {
  requireForm(form.text, text, 'text');
  const every = new Set<string>();
  for (const bare of bareWords(text)) every.add(STOP_WORDS.has(bare) ? bare : termOf(bare));
  return every;
}

/** Both as often as they stand there; of those that stand everywhere no more are needed once there is another. */
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

/** In small letters and without what is not read, as often as they stand there. */
function bareWords(text: string): readonly string[] {
  const bare = plain(text);
  const found = bare.match(WORD) ?? [];
  // Most texts have neither.
  const words = UNSPACED.test(bare) ? found.flatMap((word) => (UNSPACED.test(word) ? unspaced(word) : [word])) : found;
  if (!APOSTROPHE.test(bare)) return words;
  return words.flatMap((word) => (APOSTROPHE.test(word) ? withoutApostrophe(word) : word));
}

/** Without an English genitive; what follows an elision also without what it leans on, as far as its letters count. */
function withoutApostrophe(word: string): string[] {
  const parts = word
    .replace(/['’]s$/, '')
    .split(ELISION)
    .map((part) => part.replace(/['’]/g, ''));
  const words: string[] = [];
  let behind = '';
  // From behind, so that each takes as long as the others.
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
  // A longer one would be kept as a whole.
  if (bare.length <= LETTERS_MAX) STEMS.set(bare, term);
  return term;
}

/** Each pair of neighbours of a run; a letter that stands alone by itself. */
function unspaced(text: string): string[] {
  return (text.match(RUNS) ?? []).flatMap((run) => {
    const letters = [...run];
    if (!UNSPACED.test(run) || letters.length === 1) return [run];
    return letters.slice(1).map((letter, at) => letters[at]! + letter);
  });
}
