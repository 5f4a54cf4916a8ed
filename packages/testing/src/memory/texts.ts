import type { FactHit, FactText, FactVector, FactVersion, Hash } from 'assize/internal/ledger';
import { Bm25, dayOf, documentOf, rounded, wordsOf, wordsOfDocument } from 'assize/internal/memory';
import { compareRows, erasedText, isErasedText } from 'assize/internal/stores/facts.ts';
import { dot, otherDimensions, unit } from 'assize/internal/stores/vectors.ts';

/** The rows of a text. */
export interface TextHome {
  readonly name: { readonly space: string };
  readonly names: { readonly hash: Hash };
  readonly rows: ReadonlyMap<string, FactVersion>;
}

interface Text {
  readonly id: string;
  readonly name: string;
  readonly home: TextHome;
  readonly content: Hash;
  readonly text: string;
  readonly length: number;
  /** The number of occurrences of each word in the text. */
  readonly words: ReadonlyMap<string, number>;
  readonly vectors: Map<string, Float32Array>;
}

/** The texts of one space. */
interface Shelf {
  /** By their ids, in the order of insertion. */
  readonly texts: Map<string, Text>;
  readonly byWord: Map<string, Set<Text>>;
  words: number;
}

/** The search index of facts in memory. A text is indexed at the first search. */
export class MemoryTexts {
  readonly #shelves = new Map<string, Shelf>();
  readonly #dimensions = new Map<string, number>();
  #waiting: { readonly home: TextHome; readonly row: FactVersion }[] = [];

  /** Call this with each new row. */
  add(home: TextHome, row: FactVersion): void {
    this.#waiting.push({ home, row });
  }

  /** Call this before the values are erased from the rows themselves. */
  erase(hashes: ReadonlySet<Hash>): void {
    const isKept = (home: TextHome, content: Hash): boolean =>
      !hashes.has(content) && !hashes.has(home.names.hash);
    this.#waiting = this.#waiting.filter(({ home, row }) => isKept(home, row.content.hash));
    for (const shelf of this.#shelves.values())
      for (const text of shelf.texts.values())
        if (!isKept(text.home, text.content)) remove(shelf, text);
  }

  clear(): void {
    this.#waiting = [];
    this.#shelves.clear();
    this.#dimensions.clear();
  }

  /** The best matching rows that `isAsked` accepts. */
  byText(
    space: string,
    text: string,
    isAsked: (row: FactVersion) => boolean,
    limit: number,
  ): FactHit[] {
    this.#index();
    const shelf = this.#shelves.get(space);
    if (shelf === undefined) return [];
    const words = [...new Set(wordsOf(text))];
    const bm25 = new Bm25(
      { texts: shelf.texts.size, words: shelf.words },
      words.map((word) => ({ word, texts: shelf.byWord.get(word)?.size ?? 0 })),
    );
    const found = new Set(bm25.sought.flatMap(({ word }) => [...shelf.byWord.get(word)!]));
    const scored = [...found].map((each) => ({
      text: each,
      score: bm25.score(
        bm25.sought.map(({ word }) => each.words.get(word) ?? 0),
        each.length,
      ),
    }));
    return best(scored, isAsked, limit);
  }

  /**
   * The nearest rows that `isAsked` accepts. @throws {StoreError} for a vector of other dimensions
   */
  byVector(
    {
      space,
      embedder,
      vector,
    }: { readonly space: string; readonly embedder: string; readonly vector: Float32Array },
    isAsked: (row: FactVersion) => boolean,
    limit: number,
  ): FactHit[] {
    this.#index();
    const known = this.#dimensions.get(embedder);
    if (known === undefined) return [];
    if (known !== vector.length) throw otherDimensions(embedder, known, vector.length);
    const asked = unit(vector);
    const texts = [...(this.#shelves.get(space)?.texts.values() ?? [])];
    const scored = texts.flatMap((text) => {
      const own = text.vectors.get(embedder);
      return own === undefined ? [] : [{ text, score: rounded(dot(asked, own)) }];
    });
    return best(scored, isAsked, limit);
  }

  toEmbed(embedder: string, space: string, limit: number): FactText[] {
    this.#index();
    const texts = [...(this.#shelves.get(space)?.texts.values() ?? [])].filter(
      ({ vectors }) => !vectors.has(embedder),
    );
    return texts.slice(0, limit).map(({ id, text }) => ({ id, text }));
  }

  /** @throws {StoreError} if the embedder's stored vectors have other dimensions */
  putVectors(embedder: string, vectors: readonly FactVector[]): void {
    const [first] = vectors;
    if (first === undefined) return;
    const known = this.#dimensions.get(embedder) ?? first.vector.length;
    if (known !== first.vector.length) throw otherDimensions(embedder, known, first.vector.length);
    this.#dimensions.set(embedder, known);
    for (const { id, vector } of vectors)
      for (const { texts } of this.#shelves.values()) {
        const text = texts.get(id);
        if (text !== undefined && !text.vectors.has(embedder))
          text.vectors.set(embedder, unit(vector));
      }
  }

  #index(): void {
    for (const { home, row } of this.#waiting) {
      if (row.object === erasedText(row.content.hash) || isErasedText(row.subject)) continue;
      const shelf = this.#shelves.get(row.space) ?? {
        texts: new Map(),
        byWord: new Map(),
        words: 0,
      };
      this.#shelves.set(row.space, shelf);
      put(shelf, home, row);
    }
    this.#waiting = [];
  }
}

function put(shelf: Shelf, home: TextHome, row: FactVersion): void {
  const name = nameOf(row);
  const id = `${home.names.hash} ${name}`;
  if (shelf.texts.has(id)) return;
  const text = documentOf(row);
  const list = wordsOfDocument(row);
  const words = new Map<string, number>();
  for (const word of list) words.set(word, (words.get(word) ?? 0) + 1);
  const { hash: content } = row.content;
  const added: Text = {
    id,
    name,
    home,
    content,
    text,
    length: list.length,
    words,
    vectors: new Map(),
  };
  shelf.texts.set(id, added);
  shelf.words += list.length;
  for (const word of words.keys()) {
    const others = shelf.byWord.get(word);
    if (others === undefined) shelf.byWord.set(word, new Set([added]));
    else others.add(added);
  }
}

function remove(shelf: Shelf, text: Text): void {
  shelf.texts.delete(text.id);
  shelf.words -= text.length;
  for (const word of text.words.keys()) {
    const others = shelf.byWord.get(word)!;
    others.delete(text);
    if (others.size === 0) shelf.byWord.delete(word);
  }
}

/** The name of a row's text within its partition. */
function nameOf(row: FactVersion): string {
  return `${row.content.hash} ${row.row_kind} ${dayOf(row)}`;
}

function best(
  scored: readonly { readonly text: Text; readonly score: number }[],
  isAsked: (row: FactVersion) => boolean,
  limit: number,
): FactHit[] {
  const ranked = scored.toSorted((a, b) => b.score - a.score);
  const found: FactHit[] = [];
  for (let at = 0; at < ranked.length && found.length < limit; ) {
    const { score } = ranked[at]!;
    const rows: FactVersion[] = [];
    for (; ranked[at]?.score === score; at += 1) {
      const { home, name } = ranked[at]!.text;
      rows.push(...[...home.rows.values()].filter((row) => nameOf(row) === name && isAsked(row)));
    }
    for (const fact of rows.sort(compareRows)) found.push({ fact, score });
  }
  return found.slice(0, limit);
}
