import { form, RecentMap, requireForm } from '#canon';
import { stem } from './stem.ts';
import { STOP_WORDS } from './stop-words.ts';

/** Words of one text that are indexed, and letters of one of them that count. */
export const WORDS_MAX = 10_000;
const LETTERS_MAX = 64;

/** Words whose stems are kept in memory. */
const STEMS = new RecentMap<string, string>(20_000);

/** A day; a number with a point; letters, marks and digits, with what an apostrophe joins. */
const WORD = /\d{4}-\d{2}-\d{2}|\d+(?:\.\d+)+|[\p{L}\p{M}\p{N}]+(?:['’][\p{L}\p{M}]+)*/gu;

/** Scripts that put no spaces between words. */
const SCRIPTS = ['Han', 'Hiragana', 'Katakana', 'Thai', 'Lao', 'Khmer', 'Myanmar']
  .map((name) => `\\p{scx=${name}}`)
  .join('');
const UNSPACED = new RegExp(`[${SCRIPTS}]`, 'u');
const RUNS = new RegExp(`[${SCRIPTS}]+|[^${SCRIPTS}]+`, 'gu');

/**
 * The words of a text as they are indexed and looked for, in order and as often as they stand there: in small letters and without
 * accents, English ones by their stems (Porter 1980) and without those that stand everywhere, unless it has no others; pairs of letters
 * where a script has no spaces. They have letters, marks, digits, points and hyphens and nothing else, so that they mean nothing to a query language.
 * @throws ArgumentError `bad_argument`
 */
export function wordsOf(text: string): string[] {
  requireForm(form.text, text, 'text');
  const { words, stopWords } = termsIn(text);
  return words.length > 0 ? words : stopWords;
}

/** The words that stand everywhere, of a text that has no others; none of any other. */
export function onlyStopWords(text: string): string[] {
  const { words, stopWords } = termsIn(text);
  return words.length > 0 ? [] : stopWords;
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

/** In small letters and without what an apostrophe adds, as often as they stand there. */
function bareWords(text: string): readonly string[] {
  const bare = plain(text);
  const found = bare.match(WORD) ?? [];
  // Most texts have neither.
  const words = UNSPACED.test(bare) ? found.flatMap((word) => (UNSPACED.test(word) ? unspaced(word) : [word])) : found;
  return /['’]/.test(bare) ? words.map((word) => word.replace(/['’]s$/, '').replace(/['’]/g, '')) : words;
}

function plain(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII is meant
  if (/^[\u0000-\u007f]*$/.test(text)) return text.toLowerCase();
  return text
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .normalize('NFC')
    .toLowerCase();
}

function termOf(bare: string): string {
  const known = STEMS.get(bare);
  if (known !== undefined) return known;
  const term = /^[a-z]+$/.test(bare) ? stem(bare.slice(0, LETTERS_MAX)) : [...bare].slice(0, LETTERS_MAX).join('');
  STEMS.set(bare, term);
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
