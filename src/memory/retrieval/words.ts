import { form, RecentMap, requireForm } from '#canon';
import { stem } from './stem.ts';
import { STOP_WORDS } from './stop-words.ts';

/** Words of one text that are indexed, and letters of one of them that count. */
const WORDS_MAX = 10_000;
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
 * accents, English ones by their stems (Porter 1980) and without those that stand everywhere; pairs of letters where a script has no
 * spaces. They have letters, marks, digits, points and hyphens and nothing else, so that they mean nothing to a query language.
 * @throws ArgumentError `bad_argument`
 */
export function wordsOf(text: string): string[] {
  requireForm(form.text, text, 'text');
  const words: string[] = [];
  for (const [found] of plain(text).matchAll(WORD)) {
    for (const word of UNSPACED.test(found) ? unspaced(found) : [found]) {
      const term = termOf(word);
      if (term !== undefined) words.push(term);
      if (words.length === WORDS_MAX) return words;
    }
  }
  return words;
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

function termOf(word: string): string | undefined {
  const bare = word.replace(/['’]s$/, '').replace(/['’]/g, '');
  if (STOP_WORDS.has(bare)) return undefined;
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
