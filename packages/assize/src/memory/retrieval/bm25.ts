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

  constructor(collection: Collection, sought: readonly QueryTerm[]) {
    const { texts, words } = collection;
    this.sought = sought
      .filter((each) => each.texts > 0)
      .sort((a, b) => a.texts - b.texts || (a.word < b.word ? -1 : 1));
    this.#idf = this.sought.map((each) =>
      Math.log(1 + (texts - each.texts + 0.5) / (each.texts + 0.5)),
    );
    this.#average = words / texts;
  }

  /**
   * `occurrences`: for each word of `sought`; `length`: number of words in the text.
   */
  score(occurrences: readonly number[], length: number): number {
    const norm = K1 * (1 - B + (B * length) / this.#average);
    let sum = 0;
    for (const [at, idf] of this.#idf.entries()) {
      const f = Math.min(occurrences[at] ?? 0, OCCURRENCES_MAX);
      sum += (idf * f * (K1 + 1)) / (f + norm);
    }
    return rounded(sum);
  }

  /**
   * The maximum score of a text without the words of `sought` before this index.
   */
  bound(from: number): number {
    // A text is at least as long as the number of occurrences of a word.
    const most = (K1 + 1) / (1 + (K1 * B) / this.#average);
    return rounded(this.#idf.slice(from).reduce((sum, idf) => sum + idf * most, 0)) + STEP;
  }
}

const STEP = 1e-6;

/** Rounds to six decimals. */
export function rounded(score: number): number {
  return Math.round(score * 1e6) / 1e6;
}
