import { GenerationalMap } from '#base';
import { normalForm } from '#canon';
import { stem } from './stem.ts';

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

/**
 * Lower-case letters without a decomposition, in the letters that a searcher without that keyboard
 * types, and letters that have several forms.
 */
const ALIKE: Readonly<Record<string, string>> = {
  ...{
    ß: 'ss',
    ς: 'σ',
    ı: 'i',
    æ: 'ae',
    œ: 'oe',
    ø: 'o',
    ł: 'l',
    đ: 'd',
    ð: 'd',
    þ: 'th',
    ħ: 'h',
    ŧ: 't',
    ŋ: 'n',
  },
  ...{
    ĸ: 'k',
    ƀ: 'b',
    ɓ: 'b',
    ɖ: 'd',
    ɗ: 'd',
    ǥ: 'g',
    ɨ: 'i',
    ƙ: 'k',
    ŀ: 'l',
    ƴ: 'y',
    ƶ: 'z',
    ȷ: 'j',
    ɛ: 'e',
    ɔ: 'o',
  },
  // Persian and Urdu forms of Arabic letters, and forms that Arabic itself mixes.
  ...{ ی: 'ي', ى: 'ي', ک: 'ك', ۀ: 'ه', ە: 'ه', ة: 'ه' },
};
const ALIKE_LETTERS = new RegExp(`[${Object.keys(ALIKE).join('')}]`, 'g');
const OTHER_DIGITS = /[\p{Nd}--[0-9]]/gv;
const DIGIT = /\p{Nd}/u;

/** A day; a version or number with a point; or letters, marks and digits, joined by apostrophes. */
const WORD =
  /\d{4}-\d{2}-\d{2}|(?<![\p{L}\p{M}\p{N}])v?\d+(?:\.\d+)+|\d+(?:\.\d+)+|[\p{L}\p{M}\p{N}]+(?:['’][\p{L}\p{M}]+)*/gu;

/** A version: three numbers or more, or any after a `v`. */
const VERSION = /^v?\d+(?:\.\d+){2,}$|^v\d+(?:\.\d+)*$/;

/** Names in code, such as `userName` and `HTTPServer`, and the borders of their words. */
const NAME = /[\p{L}\p{N}]+/gu;
const HUMP = /(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u;

/** Katakana with a hiragana of the same sound, at a fixed distance. */
const KATAKANA = /[\u30a1-\u30f6\u30fd\u30fe]/g;
const KANA_DISTANCE = 0x60;

/** Letters next to digits, such as `user123` and `10mg`; most ids have more borders. */
const MIXED = /[\p{L}\p{M}]{2}\d|\d[\p{L}\p{M}]{2}/u;
const MIXED_RUNS = /\d+|[\p{L}\p{M}]+/gu;
const MIXED_RUNS_MAX = 4;

/** One letter and a hyphen before a word, such as `e-mail`, also written `email`. */
const HYPHENED = /(?<![\p{L}\p{M}\p{N}-])(\p{L})-(\p{L}[\p{L}\p{M}]+)(?![\p{M}\p{N}-])/gu;

/** Longer versions are found by this many of their numbers. */
const VERSION_NUMBERS_MAX = 8;

/** Scripts without spaces between words. */
const SCRIPTS = [
  ...['Han', 'Bopomofo', 'Hiragana', 'Katakana', 'Yi', 'Tangut', 'Nushu'],
  ...[
    'Thai',
    'Lao',
    'Khmer',
    'Myanmar',
    'Tai_Le',
    'New_Tai_Lue',
    'Tai_Tham',
    'Tai_Viet',
    'Javanese',
    'Balinese',
  ],
]
  .map((name) => `\\p{scx=${name}}`)
  .join('');

/** Scripts whose spaced words carry particles or articles: those are words beside their parts. */
const HANGUL = /\p{sc=Hangul}/u;
const HANGUL_RUNS = /\p{sc=Hangul}+|\P{sc=Hangul}+/gu;
/** Particles of one syllable. They leave a noun of one syllable. */
const PARTICLE = /^(.)[은는이가을를에의도로와과만]$/u;
/**
 * The Arabic article, also behind `and`, `with`, `like` and `for`; Hebrew prefixes of one letter.
 */
const ARTICLE = /^(?:[وبكف]?ال|لل)(?=\p{sc=Arabic}{3})|^[והבלמשכ](?=\p{sc=Hebrew}{3})/u;
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
 * word. Scripts without spaces yield pairs of letters, and a word in Hangul also its pairs of
 * syllables. Katakana compares as hiragana. Versions also yield their prefixes, names in camel case
 * their parts, `user123` also its letters and its digits, and `e-mail` also `email`. Words contain
 * only letters, marks, digits, points and hyphens, so they have no meaning in a query language.
 */
export function wordsOf(text: string): string[] {
  const { words, stopWords } = termsIn(text);
  return words.length > 0 ? words : stopWords;
}

/**
 * The letters of a text that are words on their own but have neighbours, so `wordsOf` has them only
 * in pairs. With them a search for one letter finds the text. Only Han and Hangul.
 */
export function lettersOf(text: string): string[] {
  if (!MAYBE_HAN.test(text)) return [];
  const runs = (plain(text).match(WORD) ?? []).flatMap((word) => word.match(UNSPACED_RUNS) ?? []);
  const syllables = plain(text).match(/\p{sc=Hangul}+/gu) ?? [];
  return [...runs, ...syllables].flatMap((run) => {
    const letters = [...run];
    return letters.length === 1
      ? []
      : letters.filter((letter) => HAN.test(letter) || HANGUL.test(letter));
  });
}

/**
 * All words of a text of any length, in the same forms, including stop words.
 */
export function everyWordOf(text: string): ReadonlySet<string> {
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
  const words = UNSPACED.test(bare)
    ? found.flatMap((word) => (UNSPACED.test(word) ? unspaced(word) : [word]))
    : found;
  const apart = APOSTROPHE.test(bare)
    ? words.flatMap((word) => (APOSTROPHE.test(word) ? withoutApostrophe(word) : word))
    : words;
  const parted = MAYBE_PARTED.test(bare)
    ? apart.flatMap((word) => [word, ...partsOfWord(word)])
    : apart;
  return [...parted, ...hyphenedOf(bare), ...humpsOf(text)];
}

/** A version, letters next to digits, or a script of `partsOfWord`. */
const MAYBE_PARTED =
  /v\d|\.\d+\.\d|[\p{L}\p{M}]{2}\d|\d[\p{L}\p{M}]{2}|[\p{sc=Hangul}\p{sc=Arabic}\p{sc=Hebrew}]/u;

/** The words inside of a word, by which it is also found. */
function partsOfWord(word: string): string[] {
  if (VERSION.test(word)) return versionsOf(word);
  if (HANGUL.test(word))
    return (word.match(HANGUL_RUNS) ?? []).flatMap((run) => syllablesOf(run, word));
  const bare = word.replace(ARTICLE, '');
  return [...(bare === word ? [] : [bare]), ...mixedRunsOf(word)];
}

/** The letters and the digits of `user123`, without single ones. */
function mixedRunsOf(word: string): string[] {
  const runs = MIXED.test(word) ? (word.match(MIXED_RUNS) ?? []) : [];
  if (runs.length > MIXED_RUNS_MAX) return [];
  return runs.filter((run) => run.length > 1);
}

/** `e-mail` as one word. */
function hyphenedOf(bare: string): string[] {
  return [...bare.matchAll(HYPHENED)].map(([, letter, rest]) => `${letter}${rest}`);
}

/** `v1.2.3` is also found as 1.2.3 and 1.2, and `v2` as 2. */
function versionsOf(version: string): string[] {
  const numbers = version.replace(/^v/, '').split('.', VERSION_NUMBERS_MAX);
  const found = numbers.slice(1).map((_, n) => numbers.slice(0, numbers.length - n).join('.'));
  return (numbers.length === 1 ? [numbers[0]!] : found).filter((each) => each !== version);
}

/** Pairs of syllables, so a noun is found with any particle behind it. */
function syllablesOf(run: string, word: string): string[] {
  const letters = [...run];
  const own = run === word ? [] : [run];
  if (!HANGUL.test(run)) return own;
  const noun = PARTICLE.exec(run)?.[1];
  const pairs =
    letters.length < 3 ? [] : letters.slice(1).map((letter, at) => letters[at]! + letter);
  return [...own, ...pairs, ...(noun === undefined ? [] : [noun])];
}

/** The words of names in code, beside the whole name. */
function humpsOf(text: string): string[] {
  if (!HUMP.test(text)) return [];
  return (text.match(NAME) ?? []).flatMap((name) => {
    const parts = name.split(HUMP);
    return parts.length < 2 ? [] : parts.flatMap((part) => plain(part).match(WORD) ?? []);
  });
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
    .replace(OTHER_DIGITS, asciiDigit)
    .replace(KATAKANA, (kana) => String.fromCharCode(kana.charCodeAt(0) - KANA_DISTANCE))
    .replace(ALIKE_LETTERS, (letter) => ALIKE[letter]!);
}

/** Digits of a script are ten neighbours, from 0. */
function asciiDigit(digit: string): string {
  const at = digit.codePointAt(0)!;
  let value = 0;
  while (value < 9 && DIGIT.test(String.fromCodePoint(at - value - 1))) value++;
  return String(value);
}

function termOf(bare: string): string {
  const known = STEMS.get(bare);
  if (known !== undefined) return known;
  const term = /^[a-z]+$/.test(bare)
    ? stem(bare.slice(0, LETTERS_MAX))
    : [...bare].slice(0, LETTERS_MAX).join('');
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

/**
 * English words of most sentences. They do not distinguish texts and are neither indexed nor
 * searched together with other words.
 */
export const STOP_WORDS: ReadonlySet<string> = new Set(
  (
    'a about above after again against all am an and any are as at be because been before being below between both but by can ' +
    'could did do does doing down during each few for from further had has have having he her here hers him his how i if in into ' +
    'is it its itself just me more most my no nor not now of off on once only or other our ours out over own same she should so ' +
    'some such than that the their theirs them then there these they this those through to too under until up very was we were ' +
    'what when where which while who whom why will with would you your yours'
  ).split(' '),
);
