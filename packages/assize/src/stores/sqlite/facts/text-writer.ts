import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { TransientMap } from '#base';
import type { FactVector, FactVersion, FactWrite, PartitionName } from '#ledger';
import { otherDimensions, unit } from '../../vectors.ts';
import { requireRows } from '../connection/statements.ts';
import { RESET_TEXTS } from './fact-texts.ts';
import {
  type NewText,
  type NewTexts,
  prepareNewTexts,
  type Queued,
  storedWords,
  type Texts,
  textColumns,
} from './new-texts.ts';

/**
 * The number of queued changes after these writes. A branch that inherits facts of many system
 * times adds one change for each time.
 */
export function queuedBy(writes: readonly FactWrite[]): number {
  return writes.reduce(
    (sum, { inherit }) => sum + 1 + (inherit === undefined ? 0 : timesOf(inherit.rows)),
    0,
  );
}

function timesOf(rows: readonly FactVersion[]): number {
  return new Set(rows.map((row) => row.system_time_start)).size;
}

/**
 * The maximum number of words that a transaction indexes, except for a larger change. Long texts
 * take longer than many texts.
 */
const WORDS_MAX = 100_000;

/**
 * The maximum number of characters in the cached queue, with a fixed number per row for its other
 * columns. Changes above the limit are read again.
 */
const WRITTEN_CHARACTERS_MAX: number = 4 * 2 ** 20;
const ROW_CHARACTERS = 512;

/**
 * Writes the search index of facts, inside a transaction that the caller begins and ends. The queue
 * is cached while no other connection has written.
 */
export class TextWriter {
  readonly #db: DatabaseSync;
  readonly #newTexts: ReturnType<typeof prepareNewTexts>;
  readonly #enqueue: StatementSync;
  readonly #selectQueue: StatementSync;
  readonly #dequeue: StatementSync;
  readonly #count: StatementSync;
  readonly #insertText: StatementSync;
  readonly #insertWords: StatementSync;
  readonly #selectErased: StatementSync;
  readonly #discount: StatementSync;
  readonly #deleteEmpty: StatementSync;
  readonly #deleteText: StatementSync;
  readonly #deleteWords: StatementSync;
  readonly #deleteVectors: StatementSync;
  readonly #insertEmbedder: StatementSync;
  readonly #selectEmbedder: StatementSync;
  readonly #insertVector: StatementSync;
  /** By `n`. */
  readonly #written = new TransientMap<number, Texts>();
  #writtenCharacters = 0;

  constructor(db: DatabaseSync) {
    this.#db = db;
    this.#newTexts = prepareNewTexts(db);
    this.#enqueue = db.prepare('INSERT INTO fact_text_queue (key, system_start) VALUES (?, ?)');
    this.#selectQueue = db.prepare(
      'SELECT n, key, system_start FROM fact_text_queue ORDER BY n LIMIT ?',
    );
    this.#dequeue = db.prepare(
      'DELETE FROM fact_text_queue WHERE n IN (SELECT value FROM json_each(?))',
    );
    this.#count = db.prepare(`INSERT INTO fact_text_space (name, texts, words) VALUES (?, ?, ?)
      ON CONFLICT (name) DO UPDATE SET texts = texts + excluded.texts, words = words + excluded.words RETURNING space`);
    this.#insertText = db.prepare(`INSERT INTO fact_text (key, content, audit, day, space, words)
      VALUES (?, unhex(?), ?, ?, ?, ?)`);
    this.#insertWords = db.prepare(
      'INSERT INTO fact_words (rowid, words, key, length) VALUES (?, ?, ?, ?)',
    );
    const given = '(SELECT unhex(value) FROM json_each(?))';
    this.#selectErased = db.prepare(`SELECT id, space, words FROM fact_text
      WHERE content IN ${given} OR key IN (SELECT key FROM fact_partition WHERE names IN ${given})`);
    this.#discount = db.prepare(
      'UPDATE fact_text_space SET texts = texts - 1, words = words - ? WHERE space = ? AND texts > 1',
    );
    this.#deleteEmpty = db.prepare('DELETE FROM fact_text_space WHERE space = ?');
    this.#deleteText = db.prepare('DELETE FROM fact_text WHERE id = ?');
    this.#deleteWords = db.prepare('DELETE FROM fact_words WHERE rowid = ?');
    this.#deleteVectors = db.prepare('DELETE FROM fact_vector WHERE text = ?');
    this.#insertEmbedder = db.prepare(
      'INSERT INTO fact_embedder (id, dimensions) VALUES (?, ?) ON CONFLICT DO NOTHING',
    );
    this.#selectEmbedder = db.prepare(
      'SELECT embedder, dimensions FROM fact_embedder WHERE id = ?',
    );
    this.#insertVector = db.prepare(`INSERT INTO fact_vector (text, embedder, vector)
      SELECT t.id, ?, ? FROM fact_text AS t JOIN fact_partition AS p ON p.key = t.key
      WHERE t.id = ? AND ${TEXT_NAME} = ? ON CONFLICT DO NOTHING`);
  }

  /** Call this with each change that inserts rows, and its rows of that system time. */
  enqueue(
    key: number | bigint,
    systemStart: string,
    name: PartitionName,
    rows: readonly FactVersion[],
  ): void {
    const { space, subject, predicate } = name;
    const partition = { space, subject, predicate };
    const n = Number(requireRows(this.#enqueue.run(key, systemStart), 1).lastInsertRowid);
    const characters = this.#writtenCharacters + charactersOf(partition, rows);
    if (characters > WRITTEN_CHARACTERS_MAX) return;
    this.#writtenCharacters = characters;
    this.#written.set(n, { partition, rows: rows.map(textColumns) });
  }

  /**
   * Call this when another connection has written, after every rollback, and after texts were
   * erased.
   */
  forget(): void {
    this.#written.clear();
    this.#writtenCharacters = 0;
  }

  /**
   * Indexes the oldest queued changes, at most `most`, and fewer of long texts. Returns false if
   * nothing is left.
   */
  flush(most: number): boolean {
    const changes = this.#selectQueue.all(most) as unknown as readonly Queued[];
    if (changes.length === 0) return false;
    const { taken, texts } = this.#together(changes);
    // The counting precedes the first insert: FTS5 flushes its buffer when a later statement needs
    // a statement journal.
    const spaces = this.#counted(texts);
    for (const text of texts) this.#insert(text, spaces.get(text.partition.space) as number);
    this.#dequeue.run(JSON.stringify(taken.map(({ n }) => n)));
    for (const { n } of taken) this.#indexed(n);
    return changes.length === most || taken.length < changes.length;
  }

  /** The changes that are indexed together, partition by partition and in their order. */
  #together(changes: readonly Queued[]): {
    readonly taken: readonly Queued[];
    readonly texts: readonly NewText[];
  } {
    const parts: NewTexts[] = [];
    let words = 0;
    for (const part of this.#newTexts(changes, this.#written)) {
      parts.push(part);
      for (const text of part.texts) words += text.words.length;
      if (words >= WORDS_MAX) break;
    }
    return { taken: parts.map((part) => part.change), texts: parts.flatMap((part) => part.texts) };
  }

  /**
   * Deletes erased texts, and the texts of erased partitions, with their vectors. `hashes` is a
   * JSON list. Prefixes of words stay in the index until it is rebuilt (`scrub.ts`).
   */
  erase(hashes: string): void {
    const erased = this.#selectErased.all(hashes, hashes) as unknown as readonly Erased[];
    for (const { id, space, words } of erased) {
      for (const statement of [this.#deleteWords, this.#deleteVectors, this.#deleteText])
        statement.run(id);
      if (this.#discount.run(words, space).changes === 0) this.#deleteEmpty.run(space);
    }
  }

  /** Deletes all texts and vectors. */
  reset(): void {
    this.forget();
    this.#db.exec(RESET_TEXTS);
  }

  /** @throws {StoreError} if the embedder's stored vectors have other dimensions */
  putVectors(embedder: string, vectors: readonly FactVector[]): void {
    const [first] = vectors;
    if (first === undefined) return;
    this.#insertEmbedder.run(embedder, first.vector.length);
    const found = this.#selectEmbedder.get(embedder) as unknown as {
      embedder: number;
      dimensions: number;
    };
    if (found.dimensions !== first.vector.length)
      throw otherDimensions(embedder, found.dimensions, first.vector.length);
    for (const { id, vector } of vectors) {
      const { buffer, byteOffset, byteLength } = unit(vector);
      this.#insertVector.run(
        found.embedder,
        new Uint8Array(buffer, byteOffset, byteLength),
        Number.parseInt(id, 10),
        id,
      );
    }
  }

  /** Drops the cached change, because its number can be reused. */
  #indexed(n: number): void {
    const written = this.#written.get(n);
    if (written === undefined) return;
    this.#writtenCharacters -= charactersOf(written.partition, written.rows);
    this.#written.delete(n);
  }

  /** The numbers of the spaces of these texts, by name. */
  #counted(texts: readonly NewText[]): ReadonlyMap<string, number> {
    const numbers = new Map<string, number>();
    for (const [name, each] of Map.groupBy(texts, ({ partition }) => partition.space)) {
      const words = each.reduce((sum, text) => sum + text.words.length, 0);
      numbers.set(name, this.#count.get(name, each.length, words)!['space'] as number);
    }
    return numbers;
  }

  #insert({ key, content, audit, day, words }: NewText, space: number): void {
    const { lastInsertRowid } = this.#insertText.run(key, content, audit, day, space, words.length);
    this.#insertWords.run(lastInsertRowid, storedWords(space, words), key, words.length);
  }
}

function charactersOf(name: PartitionName, rows: readonly { readonly object: string }[]): number {
  const { space, subject, predicate } = name;
  const names = space.length + subject.length + predicate.length;
  return rows.reduce((sum, { object }) => sum + ROW_CHARACTERS + object.length, names);
}

interface Erased {
  readonly id: number;
  readonly space: number;
  readonly words: number;
}

/**
 * The name of a text for callers. It contains hashes, because a rebuild of the facts can reuse the
 * number.
 */
export const TEXT_NAME = `t.id || '-' || lower(substr(hex(p.names), 1, 32)) || lower(substr(hex(t.content), 1, 32)) || t.audit || t.day`;
