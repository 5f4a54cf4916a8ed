import { arg, checkArgument } from '#base';

/** The weight of repeated words, and of a text's length. */
const K1 = 1.2;
const B = 0.75;

/** Maximum number of counted occurrences of a word in one text. */
export const OCCURRENCES_MAX = 255;

/** The searched texts: their number, and their number of words. */
export interface Collection {
  readonly texts: number;
  readonly words: number;
}

/** A query word, and the number of texts that contain it. */
export interface QueryTerm {
  readonly word: string;
  readonly texts: number;
}

/**
 * Ranks texts by BM25 (Robertson and Walker 1994), with k1 = 1.2, b = 0.75, and the idf that is
 * never negative:
 *
 * score(d) = Σ ln(1 + (N − n + ½) / (n + ½)) · f · (k1 + 1) / (f + k1 · (1 − b + b · |d| / avg))
 *
 * N is the number of texts, and n the number of texts with the word. f is the number of occurrences
 * in d, at most 255. |d| is the number of words of d, and avg its average. Scores are rounded to
 * six decimals, so they are equal in every store.
 */
export class Bm25 {
  /** Rarest first, then alphabetically. Words without an occurrence are left out. */
  readonly sought: readonly QueryTerm[];
  readonly #idf: readonly number[];
  readonly #average: number;

  /** @throws ArgumentError `bad_argument` */
  constructor(collection: Collection, sought: readonly QueryTerm[]) {
    checkArgument(COLLECTION, collection, 'collection');
    checkArgument(SOUGHT, sought, 'sought');
    const { texts, words } = collection;
    this.sought = sought
      .filter((each) => each.texts > 0)
      .sort((a, b) => a.texts - b.texts || (a.word < b.word ? -1 : 1));
    this.#idf = this.sought.map((each) => Math.log(1 + (texts - each.texts + 0.5) / (each.texts + 0.5)));
    this.#average = words / texts;
  }

  /**
   * `occurrences`: for each word of `sought`; `length`: number of words in the text. @throws
   * ArgumentError `bad_argument`
   */
  score(occurrences: readonly number[], length: number): number {
    // Called for every ranked text, so valid input is accepted quickly.
    if (!Array.isArray(occurrences) || !occurrences.every(Number.isSafeInteger) || !Number.isSafeInteger(length))
      checkArgument(COUNTS, { occurrences, length }, 'text');
    const norm = K1 * (1 - B + (B * length) / this.#average);
    let sum = 0;
    for (const [at, idf] of this.#idf.entries()) {
      const f = Math.min(occurrences[at] ?? 0, OCCURRENCES_MAX);
      sum += (idf * f * (K1 + 1)) / (f + norm);
    }
    return rounded(sum);
  }

  /**
   * The maximum score of a text without the words of `sought` before this index. @throws
   * ArgumentError `bad_argument`
   */
  bound(from: number): number {
    checkArgument(arg.whole, from, 'from');
    // A text is at least as long as the number of occurrences of a word.
    const most = (K1 + 1) / (1 + (K1 * B) / this.#average);
    return rounded(this.#idf.slice(from).reduce((sum, idf) => sum + idf * most, 0)) + STEP;
  }
}

const STEP = 1e-6;

const COLLECTION = arg.members({ texts: arg.whole, words: arg.whole });
const SOUGHT = arg.list(arg.members({ word: arg.text, texts: arg.whole }));
const COUNTS = arg.members({ occurrences: arg.list(arg.whole), length: arg.whole });

/** Rounds to six decimals. @throws ArgumentError `bad_argument` */
export function rounded(score: number): number {
  if (typeof score !== 'number')
    checkArgument(
      arg.of('a number', () => false),
      score,
      'score',
    );
  return Math.round(score * 1e6) / 1e6;
}
