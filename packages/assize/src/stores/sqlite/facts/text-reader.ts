import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { FactHit, FactQuery, FactTextQuery } from '#ledger';
import { Bm25, wordsOf } from '#memory';
import { prepareByText } from '../connection/statements.ts';
import type { FactReader } from './facts.ts';
import { type NewText, prepareNewTexts, type Queued } from './new-texts.ts';
import { type Candidate, nameOf, type RankedRows } from './ranked-rows.ts';
import { wantedTexts } from './wanted-texts.ts';

/**
 * The maximum number of texts that a search ranks. For words in more texts, the search ranks only
 * the newest. If these are not enough and the query wants at most this many texts, it ranks all
 * wanted texts.
 */
const RANKED_MAX = 2_000;

/** The growth factor of the number of texts after which the search ranks them again. */
const GROWTH = 9 / 8;

/**
 * The number of queued changes, and of their rows, above which a writable store indexes them before
 * a search.
 */
const WAITING_MAX = 64;
const WAITING_ROWS_MAX = 256;

type TextQuery<Query> = Query & { readonly limit: number };

/**
 * Full-text searches of facts. Each search sees one snapshot, including texts that are not indexed
 * yet.
 */
export class TextReader {
  readonly #facts: FactReader;
  readonly #rows: RankedRows;
  readonly #newTexts: ReturnType<typeof prepareNewTexts>;
  readonly #selectWaiting: StatementSync;
  readonly #selectWaitingRows: StatementSync;
  readonly #selectQueue: StatementSync;
  readonly #selectSpace: StatementSync;
  readonly #selectWord: StatementSync;
  readonly #texts: MatchingTexts;
  readonly #ids: MatchingTexts;
  readonly #selectText: StatementSync;
  readonly #selectBranch: StatementSync;
  readonly #query: (text: string) => StatementSync;

  constructor(db: DatabaseSync, facts: FactReader, rows: RankedRows) {
    this.#query = prepareByText(db);
    this.#rows = rows;
    this.#facts = facts;
    this.#newTexts = prepareNewTexts(db);
    this.#selectWaiting = db.prepare(
      `SELECT count(*) AS n FROM (SELECT 1 FROM fact_text_queue LIMIT ${WAITING_MAX + 1})`,
    );
    this.#selectWaitingRows = db.prepare(`SELECT count(*) AS n FROM (
      SELECT 1 FROM fact_text_queue AS q CROSS JOIN fact_version AS v
      WHERE v.system_start = q.system_start AND v.key = q.key LIMIT ${WAITING_ROWS_MAX + 1})`);
    this.#selectQueue = db.prepare('SELECT n, key, system_start FROM fact_text_queue ORDER BY n');
    this.#selectSpace = db.prepare(
      'SELECT space, texts, words FROM fact_text_space WHERE name = ?',
    );
    this.#selectWord = db.prepare('SELECT doc FROM fact_word WHERE term = ?');
    this.#texts = prepareFound(db, 'rowid, key, words, length');
    this.#ids = prepareFound(db, 'rowid');
    this.#selectText = db.prepare(
      'SELECT rowid, key, words, length FROM fact_words WHERE rowid = ?',
    );
    this.#selectText.setReturnArrays(true);
    this.#selectBranch = db.prepare(
      'SELECT 1 FROM fact_partition WHERE space = ? AND branch = ? LIMIT 1',
    );
  }

  /** Whether the queue is long enough to justify a transaction before a search. */
  isBehind(): boolean {
    if ((this.#selectWaiting.get()!['n'] as number) > WAITING_MAX) return true;
    return (this.#selectWaitingRows.get()!['n'] as number) > WAITING_ROWS_MAX;
  }

  /** Whether the queue contains any change. */
  isWaiting(): boolean {
    return this.#selectWaiting.get()!['n'] !== 0;
  }

  /**
   * Same as `FactStore.factsByText`, with the defaults filled in.
   * @throws {StoreError} while the facts are incomplete
   */
  byText(query: TextQuery<FactTextQuery>): FactHit[] {
    return this.#facts.atOneMoment(() => this.#byText(query));
  }

  #byText({ text, ...query }: TextQuery<FactTextQuery>): FactHit[] {
    const words = [...new Set(wordsOf(text))];
    if (words.length === 0 || !this.#hasMemory(query)) return [];
    const space = this.#space(query.space);
    const waiting = this.#waiting(query.space);
    const { bm25, candidates } = this.#scored(words, space, waiting);
    if (space === undefined) return this.#rows.best(candidates, query, query.limit);
    const { sought } = bm25;
    const scorer = scorerOf(bm25, space.space);
    // Every text of the subject contains the words of its name, so other texts need not be read.
    const names = [query.subject, query.predicate].flatMap((name) =>
      name === undefined ? [] : wordsOf(name),
    );
    const seen = new Set<number>();
    let few: readonly number[] | 'many' | undefined;
    // For many words a text is found many times but read once, because it can be as long as the
    // number of words.
    const isManyWords = sought.length > SOUGHT_ONE_BY_ONE;
    const { all, newest } = isManyWords ? this.#ids : this.#texts;
    const take = (rows: readonly FoundColumns[]): void => {
      for (const row of rows) {
        const [id] = row;
        if (seen.has(id)) continue;
        seen.add(id);
        const [, key, stored, length] = isManyWords ? this.#text(id) : (row as TextColumns);
        candidates.push({ id, key, score: scorer(stored, length) });
      }
    };
    let found: FactHit[] = [];
    let ranked = 0;
    const best = (): FactHit[] => {
      if (candidates.length > ranked) found = this.#rows.best(candidates, query, query.limit);
      ranked = candidates.length;
      return found;
    };
    // The function does not rank again for each word that adds few texts, because that would rank
    // all texts once per word. The last result of a subset is never better than the last result of
    // all texts.
    const nearlyBest = (): FactHit[] => (candidates.length > ranked * GROWTH ? best() : found);
    for (const [at, { word, texts }] of sought.entries()) {
      const match = [word, ...names].map((each) => `"${space.space}_${each}"`).join(' AND ');
      const left = RANKED_MAX - seen.size;
      if (texts <= left) take(all.all(match) as unknown as readonly FoundColumns[]);
      else {
        let most = Math.max(left, RANKED_MAX / 4);
        for (let before = Number.MAX_SAFE_INTEGER; ; most *= 2) {
          const rows = newest.all(match, before, most) as unknown as readonly FoundColumns[];
          take(rows);
          const isAll = rows.length < most;
          if (isAll && (seen.size < RANKED_MAX || few === 'many')) break;
          if (nearlyBest().length === query.limit) break;
          // The query wants few of the found texts, so the search reads the wanted texts if they
          // are fewer.
          few ??= this.#few(query);
          if (few !== 'many') {
            const waited = candidates.filter(({ id }) => id === undefined);
            return this.#rows.best(
              [...waited, ...this.#scoredTexts(few, scorer)],
              query,
              query.limit,
            );
          }
          if (isAll) break;
          before = rows.at(-1)![0];
        }
      }
      if (nearlyBest().length < query.limit) continue;
      const next = sought[at + 1];
      if (next === undefined || found.at(-1)!.score > bm25.bound(at + 1)) break;
      if (seen.size + next.texts > RANKED_MAX) break;
    }
    return best();
  }

  /** Whether the queried branch has asserted any fact. */
  #hasMemory({ space, branch }: FactQuery): boolean {
    return branch === undefined || this.#selectBranch.get(space, branch) !== undefined;
  }

  /** The texts that a query wants, if they are few enough to read each. */
  #few(query: FactQuery): readonly number[] | 'many' {
    const { sql, values } = wantedTexts(query);
    const ids = this.#query(`${sql} LIMIT ${RANKED_MAX + 1}`).all(
      ...values,
    ) as unknown as readonly (readonly [number])[];
    return ids.length > RANKED_MAX ? 'many' : ids.map(([id]) => id);
  }

  /** The texts that contain any of the words, with their scores. */
  #scoredTexts(
    ids: readonly number[],
    scorer: (stored: string, length: number) => number,
  ): Candidate[] {
    return ids
      .map((at): Candidate => {
        const [id, key, stored, length] = this.#text(at);
        return { id, key, score: scorer(stored, length) };
      })
      .filter(({ score }) => score > 0);
  }

  #text(id: number): TextColumns {
    return this.#selectText.get(id) as unknown as TextColumns;
  }

  /** The scoring of words in this space, and the scored texts of the queue. */
  #scored(
    words: readonly string[],
    space: SpaceColumns | undefined,
    waiting: readonly NewText[],
  ): { readonly bm25: Bm25; readonly candidates: Candidate[] } {
    const places = new Map(words.map((word, at) => [word, at]));
    const occurrences = waiting.map((text) => counted(places, text.words));
    const collection = {
      texts: (space?.texts ?? 0) + waiting.length,
      words: waiting.reduce((sum, text) => sum + text.words.length, space?.words ?? 0),
    };
    const sought = words.map((word, at) => ({
      word,
      texts:
        (space === undefined ? 0 : this.#textsWith(`${space.space}_${word}`)) +
        occurrences.filter((each) => each[at]! > 0).length,
    }));
    const bm25 = new Bm25(collection, sought);
    const order = bm25.sought.map(({ word }) => places.get(word)!);
    const candidates = waiting.flatMap(
      ({ key, content, audit, day, words: { length } }, n): Candidate[] => {
        const each = order.map((at) => occurrences[n]![at]!);
        const name = nameOf(content, audit, day);
        return each.some((count) => count > 0)
          ? [{ id: undefined, key, name, score: bm25.score(each, length) }]
          : [];
      },
    );
    return { bm25, candidates };
  }

  /** The committed texts of the space that are not indexed yet. */
  #waiting(space: string): NewText[] {
    const changes = this.#selectQueue.all() as unknown as readonly Queued[];
    if (changes.length === 0) return [];
    const texts = [...this.#newTexts(changes)].flatMap((each) => each.texts);
    return texts.filter(({ partition }) => partition.space === space);
  }

  #textsWith(term: string): number {
    return (this.#selectWord.get(term)?.['doc'] as number | undefined) ?? 0;
  }

  #space(name: string): SpaceColumns | undefined {
    return this.#selectSpace.get(name) as unknown as SpaceColumns | undefined;
  }
}

interface SpaceColumns {
  readonly space: number;
  readonly texts: number;
  readonly words: number;
}

type TextColumns = readonly [id: number, key: number, words: string, length: number];
type FoundColumns = TextColumns | readonly [id: number];

/** The texts that an FTS5 query finds: all of them, or a number of the newest before one. */
interface MatchingTexts {
  readonly all: StatementSync;
  readonly newest: StatementSync;
}

function prepareFound(db: DatabaseSync, columns: string): MatchingTexts {
  const found = `SELECT ${columns} FROM fact_words WHERE fact_words MATCH ?`;
  const all = db.prepare(found);
  const newest = db.prepare(`${found} AND rowid < ? ORDER BY rowid DESC LIMIT ?`);
  for (const statement of [all, newest]) statement.setReturnArrays(true);
  return { all, newest };
}

/** The number of occurrences of each word in a text. `places` gives each word its index. */
function counted(places: ReadonlyMap<string, number>, text: readonly string[]): number[] {
  const counts = Array.from(places, () => 0);
  for (const word of text) {
    const at = places.get(word);
    if (at !== undefined) counts[at]! += 1;
  }
  return counts;
}

/**
 * The maximum number of words that are searched one after the other in a text. For more words, the
 * text's own words are counted once.
 */
const SOUGHT_ONE_BY_ONE = 12;

/** Scores words in their stored form, with a space before and after each. */
function scorerOf(bm25: Bm25, space: number): (stored: string, length: number) => number {
  if (bm25.sought.length > SOUGHT_ONE_BY_ONE) {
    const names = bm25.sought.map(({ word }) => `${space}_${word}`);
    return (words, length) => {
      const counts = new Map<string, number>();
      for (const word of words.split(' ')) counts.set(word, (counts.get(word) ?? 0) + 1);
      return bm25.score(
        names.map((name) => counts.get(name) ?? 0),
        length,
      );
    };
  }
  const stored = bm25.sought.map(({ word }) => ` ${space}_${word} `);
  return (words, length) =>
    bm25.score(
      stored.map((word) => occurrences(words, word)),
      length,
    );
}

function occurrences(words: string, word: string): number {
  let count = 0;
  // The space after one word is the space before the next.
  for (let at = words.indexOf(word); at !== -1; at = words.indexOf(word, at + word.length - 1))
    count += 1;
  return count;
}
