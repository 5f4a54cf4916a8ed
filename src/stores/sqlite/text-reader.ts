import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { FactHit, FactText, FactTextQuery, FactVectorQuery, FactVersion } from '#ledger';
import { Bm25, dayOf, documentOf, OPEN_START, rounded, wordsOf } from '#memory';
import { compareRows } from '../facts.ts';
import { dot, otherDimensions, unit } from '../vectors.ts';
import { type FactReader, OBJECT, ROW, type RowColumns, restrictions, versionOf } from './facts.ts';
import { type NewText, prepareNewTexts, type Queued } from './new-texts.ts';
import { TEXT_NAME } from './text-writer.ts';

/** Texts that are ranked for one search; by words that stand in more, only the newest of them. */
const RANKED_MAX = 2_000;

/** Changes that wait to be indexed, above which a store that may write indexes them before it searches. */
const WAITING_MAX = 64;

/** Texts of one partition whose rows are read together. */
const TOGETHER = 32;

type Asked<Query> = Query & { readonly limit: number };

/** A text that answers, with its rows once they were looked for. */
interface Candidate {
  readonly key: number;
  readonly score: number;
  /** Undefined where the text is not indexed yet. */
  readonly id: number | undefined;
  name?: string;
  rows?: FactVersion[];
}

/** Searches of facts: each sees one moment, with what is not indexed yet. */
export class TextReader {
  readonly #facts: FactReader;
  readonly #db: DatabaseSync;
  readonly #newTexts: (changes: readonly Queued[]) => NewText[];
  readonly #selectWaiting: StatementSync;
  readonly #selectQueue: StatementSync;
  readonly #selectSpace: StatementSync;
  readonly #selectWord: StatementSync;
  readonly #selectTexts: StatementSync;
  readonly #selectNewest: StatementSync;
  readonly #selectName: StatementSync;
  readonly #selectEmbedder: StatementSync;
  readonly #selectVectors: StatementSync;
  readonly #selectToEmbed: StatementSync;
  /** By their text. */
  readonly #queries = new Map<string, StatementSync>();

  constructor(db: DatabaseSync, facts: FactReader) {
    this.#db = db;
    this.#facts = facts;
    this.#newTexts = prepareNewTexts(db);
    this.#selectWaiting = db.prepare(
      `SELECT count(*) AS n FROM (SELECT 1 FROM fact_text_queue LIMIT ${WAITING_MAX + 1})`,
    );
    this.#selectQueue = db.prepare('SELECT n, key, system_start FROM fact_text_queue ORDER BY n');
    this.#selectSpace = db.prepare('SELECT space, texts, words FROM fact_text_space WHERE name = ?');
    this.#selectWord = db.prepare('SELECT doc FROM fact_word WHERE term = ?');
    const found = 'SELECT rowid, key, words, length FROM fact_words WHERE fact_words MATCH ?';
    this.#selectTexts = db.prepare(found);
    this.#selectTexts.setReturnArrays(true);
    this.#selectNewest = db.prepare(`${found} AND rowid < ? ORDER BY rowid DESC LIMIT ?`);
    this.#selectNewest.setReturnArrays(true);
    this.#selectName = db.prepare('SELECT lower(hex(content)) AS content, audit, day FROM fact_text WHERE id = ?');
    this.#selectEmbedder = db.prepare('SELECT embedder, dimensions FROM fact_embedder WHERE id = ?');
    this.#selectVectors = db.prepare(`SELECT t.id, t.key, v.vector FROM fact_text AS t
      JOIN fact_vector AS v ON v.text = t.id WHERE t.space = ? AND v.embedder = ?`);
    this.#selectVectors.setReturnArrays(true);
    this.#selectToEmbed = db.prepare(`SELECT ${TEXT_NAME} AS id, p.subject, p.predicate,
        (SELECT ${OBJECT} FROM fact AS f WHERE f.key = t.key AND f.audit = t.audit AND f.content = t.content LIMIT 1) AS object,
        t.audit, t.day
      FROM fact_text AS t JOIN fact_partition AS p ON p.key = t.key
      WHERE t.space = ? AND NOT EXISTS (SELECT 1 FROM fact_vector AS v WHERE v.text = t.id AND v.embedder = ?)
      ORDER BY t.id LIMIT ?`);
  }

  /** Whether so much waits to be indexed that it is worth a transaction before a search. */
  isBehind(): boolean {
    return (this.#selectWaiting.get()!['n'] as number) > WAITING_MAX;
  }

  /** Whether anything waits to be indexed. */
  isWaiting(): boolean {
    return this.#selectWaiting.get()!['n'] !== 0;
  }

  /** As `FactStore.factsByText`, with nothing left out that has a default. @throws {StoreError} while the facts are incomplete */
  byText(query: Asked<FactTextQuery>): FactHit[] {
    return this.#facts.atOneMoment(() => this.#byText(query));
  }

  /** As `FactStore.factsByVector`. @throws {StoreError} while the facts are incomplete; for a vector of other dimensions */
  byVector({ embedder, vector, ...query }: Asked<FactVectorQuery>): FactHit[] {
    return this.#facts.atOneMoment(() => {
      const space = this.#space(query.space);
      const known = this.#selectEmbedder.get(embedder) as { embedder: number; dimensions: number } | undefined;
      if (known !== undefined && known.dimensions !== vector.length)
        throw otherDimensions(embedder, known.dimensions, vector.length);
      if (known === undefined || space === undefined) return [];
      const asked = unit(vector);
      const rows = this.#selectVectors.all(space.space, known.embedder) as unknown as readonly [
        number,
        number,
        Uint8Array,
      ][];
      const candidates = rows.map(
        ([id, key, bytes]): Candidate => ({ id, key, score: rounded(dot(asked, floats(bytes))) }),
      );
      return this.#best(candidates, query, query.limit);
    });
  }

  /** As `FactStore.textsToEmbed`, of what is indexed. @throws {StoreError} while the facts are incomplete */
  toEmbed(embedder: string, name: string, limit: number): FactText[] {
    return this.#facts.atOneMoment(() => {
      const space = this.#space(name);
      if (space === undefined) return [];
      const known = this.#selectEmbedder.get(embedder)?.['embedder'] as number | undefined;
      const rows = this.#selectToEmbed.all(space.space, known ?? -1, limit) as unknown as readonly TextRow[];
      return rows.map(({ id, audit, day, ...row }) => {
        const asserted_from = day === '' ? OPEN_START : `${day}T00:00:00.000000Z`;
        return { id, text: documentOf({ ...row, asserted_from, row_kind: audit === 0 ? 'current' : 'audit' }) };
      });
    });
  }

  #byText({ text, ...query }: Asked<FactTextQuery>): FactHit[] {
    const words = [...new Set(wordsOf(text))];
    if (words.length === 0) return [];
    const space = this.#space(query.space);
    const waiting = this.#waiting(query.space);
    const { bm25, candidates } = this.#scored(words, space, waiting);
    if (space === undefined) return this.#best(candidates, query, query.limit);
    const { sought } = bm25;
    const scorer = scorerOf(bm25, space.space);
    // All texts of the subject have its words: so others need not be read.
    const names = [query.subject, query.predicate].flatMap((name) => (name === undefined ? [] : wordsOf(name)));
    const seen = new Set<number>();
    let found: FactHit[] = [];
    const take = (rows: readonly TextColumns[]): void => {
      for (const [id, key, stored, length] of rows) {
        if (seen.has(id)) continue;
        seen.add(id);
        candidates.push({ id, key, score: scorer(stored, length) });
      }
    };
    for (const [at, { word, texts }] of sought.entries()) {
      const match = [word, ...names].map((each) => `"${space.space}_${each}"`).join(' AND ');
      const left = RANKED_MAX - seen.size;
      if (texts <= left) {
        take(this.#selectTexts.all(match) as unknown as readonly TextColumns[]);
        found = this.#best(candidates, query, query.limit);
      } else {
        let most = Math.max(left, RANKED_MAX / 4);
        for (let before = Number.MAX_SAFE_INTEGER; ; most *= 2) {
          const rows = this.#selectNewest.all(match, before, most) as unknown as readonly TextColumns[];
          take(rows);
          found = this.#best(candidates, query, query.limit);
          if (found.length === query.limit || rows.length < most) break;
          before = rows.at(-1)![0];
        }
      }
      if (found.length < query.limit) continue;
      const next = sought[at + 1];
      if (next === undefined || found.at(-1)!.score > bm25.bound(at + 1)) return found;
      if (seen.size + next.texts > RANKED_MAX) return found;
    }
    return this.#best(candidates, query, query.limit);
  }

  /** How words are scored in this space, and what waits to be indexed, scored. */
  #scored(
    words: readonly string[],
    space: SpaceColumns | undefined,
    waiting: readonly NewText[],
  ): { readonly bm25: Bm25; readonly candidates: Candidate[] } {
    const occurrences = waiting.map((text) => counted(words, text.words));
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
    const order = bm25.sought.map(({ word }) => words.indexOf(word));
    const candidates = waiting.flatMap(({ key, content, audit, day, words: { length } }, n): Candidate[] => {
      const each = order.map((at) => occurrences[n]![at]!);
      const name = nameOf(content, audit, day);
      return each.some((count) => count > 0) ? [{ id: undefined, key, name, score: bm25.score(each, length) }] : [];
    });
    return { bm25, candidates };
  }

  /** What is committed in that space and not indexed yet. */
  #waiting(space: string): NewText[] {
    const changes = this.#selectQueue.all() as unknown as readonly Queued[];
    if (changes.length === 0) return [];
    return this.#newTexts(changes).filter(({ partition }) => partition.space === space);
  }

  #textsWith(term: string): number {
    return (this.#selectWord.get(term)?.['doc'] as number | undefined) ?? 0;
  }

  #space(name: string): SpaceColumns | undefined {
    return this.#selectSpace.get(name) as unknown as SpaceColumns | undefined;
  }

  /** The best rows that the query wants; rows of texts are looked for in the order of their scores, and no more of them than it takes. */
  #best(candidates: readonly Candidate[], query: Omit<Asked<FactTextQuery>, 'text'>, limit: number): FactHit[] {
    const ranked = candidates.toSorted((a, b) => b.score - a.score);
    const found: FactHit[] = [];
    for (let at = 0; at < ranked.length && found.length < limit; ) {
      const { score } = ranked[at]!;
      const rows: FactVersion[] = [];
      for (; ranked[at]?.score === score; at += 1) rows.push(...(ranked[at]!.rows ?? this.#read(ranked, at, query)));
      for (const fact of rows.sort(compareRows)) found.push({ fact, score });
    }
    return found.slice(0, limit);
  }

  /** Rows of a text, and of the next ones of its partition. */
  #read(ranked: readonly Candidate[], from: number, query: Omit<Asked<FactTextQuery>, 'text'>): readonly FactVersion[] {
    const [first] = ranked.slice(from) as [Candidate];
    const same: Candidate[] = [];
    for (let at = from; at < ranked.length && same.length < TOGETHER; at += 1)
      if (ranked[at]!.key === first.key && ranked[at]!.rows === undefined) same.push(ranked[at]!);
    const named = new Map<string, FactVersion[]>();
    for (const each of same) {
      each.rows = [];
      each.name ??= this.#name(each.id!);
      named.set(each.name, each.rows);
    }
    const { where, values } = restrictions(query);
    const contents = JSON.stringify([...new Set([...named.keys()].map((name) => name.slice(0, HASH_DIGITS)))]);
    const rows = this.#query(where).all(first.key, contents, ...values) as unknown as [...RowColumns, string, string][];
    for (const columns of rows) {
      const [subject, predicate] = columns.slice(-2) as [string, string];
      const { space, branch } = query;
      const name = { space, subject, predicate, ...(branch !== undefined && { branch }) };
      const row = versionOf(columns as unknown as RowColumns, name);
      named.get(nameOf(row.content.hash, row.row_kind === 'audit' ? 1 : 0, dayOf(row)))?.push(row);
    }
    return first.rows!;
  }

  #name(id: number): string {
    const { content, audit, day } = this.#selectName.get(id) as unknown as {
      content: string;
      audit: 0 | 1;
      day: string;
    };
    return nameOf(content, audit, day);
  }

  #query(where: readonly string[]): StatementSync {
    const text = where.join(' AND ');
    const known = this.#queries.get(text);
    if (known !== undefined) return known;
    const statement = this.#db.prepare(`SELECT ${ROW}, p.subject, p.predicate
      FROM fact_partition AS p CROSS JOIN fact AS f ON f.key = p.key
      WHERE p.key = ? AND f.content IN (SELECT unhex(value) FROM json_each(?)) AND ${text}`);
    statement.setReturnArrays(true);
    this.#queries.set(text, statement);
    return statement;
  }
}

interface SpaceColumns {
  readonly space: number;
  readonly texts: number;
  readonly words: number;
}

type TextColumns = readonly [id: number, key: number, words: string, length: number];

interface TextRow {
  readonly id: string;
  readonly subject: string;
  readonly predicate: string;
  readonly object: string;
  readonly audit: 0 | 1;
  readonly day: string;
}

const HASH_DIGITS = 64;

/** Which text of its partition it is. */
function nameOf(content: string, audit: 0 | 1, day: string): string {
  return `${content} ${audit} ${day}`;
}

/** How often each of the words stands in a text. */
function counted(words: readonly string[], text: readonly string[]): number[] {
  const counts = words.map(() => 0);
  for (const word of text) {
    const at = words.indexOf(word);
    if (at !== -1) counts[at]! += 1;
  }
  return counts;
}

/** Words that are looked for one after the other in a text; for more, its own are counted, once. */
const SOUGHT_ONE_BY_ONE = 12;

/** Scores words as they are stored: with a space before and after each. */
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
  // The space after one is the space before the next.
  for (let at = words.indexOf(word); at !== -1; at = words.indexOf(word, at + word.length - 1)) count += 1;
  return count;
}

/** Bytes of a blob may begin anywhere, and numbers only at their own width. */
function floats(bytes: Uint8Array): Float32Array {
  return new Float32Array(bytes.slice().buffer);
}
