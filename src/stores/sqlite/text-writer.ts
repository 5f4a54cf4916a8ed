import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { FactVector } from '#ledger';
import { otherDimensions, unit } from '../vectors.ts';
import { noTexts, texts } from './migrations/0010-texts.ts';
import { type NewText, prepareNewTexts, type Queued } from './new-texts.ts';

/** Changes that wait to be indexed before a store does so by itself. */
export const QUEUE_MAX = 500;

/** Changes that are indexed in one transaction. */
const FLUSHED_MAX = 500;

/** Writes what facts are found by, inside a transaction that the caller begins and ends. */
export class TextWriter {
  readonly #db: DatabaseSync;
  readonly #newTexts: (changes: readonly Queued[]) => NewText[];
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
  readonly #rebuildWords: StatementSync;
  readonly #insertEmbedder: StatementSync;
  readonly #selectEmbedder: StatementSync;
  readonly #insertVector: StatementSync;

  constructor(db: DatabaseSync) {
    this.#db = db;
    this.#newTexts = prepareNewTexts(db);
    this.#enqueue = db.prepare('INSERT INTO fact_text_queue (key, system_start) VALUES (?, ?)');
    this.#selectQueue = db.prepare('SELECT n, key, system_start FROM fact_text_queue ORDER BY n LIMIT ?');
    this.#dequeue = db.prepare('DELETE FROM fact_text_queue WHERE n <= ?');
    this.#count = db.prepare(`INSERT INTO fact_text_space (name, texts, words) VALUES (?, 1, ?)
      ON CONFLICT (name) DO UPDATE SET texts = texts + 1, words = words + excluded.words RETURNING space`);
    this.#insertText = db.prepare(`INSERT INTO fact_text (key, content, audit, day, space, words)
      VALUES (?, unhex(?), ?, ?, ?, ?)`);
    this.#insertWords = db.prepare('INSERT INTO fact_words (rowid, words, key, length) VALUES (?, ?, ?, ?)');
    const given = '(SELECT unhex(value) FROM json_each(?1))';
    this.#selectErased = db.prepare(`SELECT id, space, words FROM fact_text
      WHERE content IN ${given} OR key IN (SELECT key FROM fact_partition WHERE names IN ${given})`);
    this.#discount = db.prepare(
      'UPDATE fact_text_space SET texts = texts - 1, words = words - ? WHERE space = ? AND texts > 1',
    );
    this.#deleteEmpty = db.prepare('DELETE FROM fact_text_space WHERE space = ?');
    this.#deleteText = db.prepare('DELETE FROM fact_text WHERE id = ?');
    this.#deleteWords = db.prepare('DELETE FROM fact_words WHERE rowid = ?');
    this.#deleteVectors = db.prepare('DELETE FROM fact_vector WHERE text = ?');
    this.#rebuildWords = db.prepare("INSERT INTO fact_words (fact_words) VALUES ('rebuild')");
    this.#insertEmbedder = db.prepare(
      'INSERT INTO fact_embedder (id, dimensions) VALUES (?, ?) ON CONFLICT DO NOTHING',
    );
    this.#selectEmbedder = db.prepare('SELECT embedder, dimensions FROM fact_embedder WHERE id = ?');
    this.#insertVector = db.prepare(`INSERT INTO fact_vector (text, embedder, vector)
      SELECT t.id, ?, ? FROM fact_text AS t JOIN fact_partition AS p ON p.key = t.key
      WHERE t.id = ? AND ${TEXT_NAME} = ? ON CONFLICT DO NOTHING`);
  }

  /** To be called with each change that inserts. */
  enqueue(key: number | bigint, systemStart: string): void {
    this.#enqueue.run(key, systemStart);
  }

  /** Indexes what has waited longest; false where nothing is left then. */
  flush(): boolean {
    const changes = this.#selectQueue.all(FLUSHED_MAX) as unknown as readonly Queued[];
    const last = changes.at(-1);
    if (last === undefined) return false;
    for (const text of this.#newTexts(changes)) this.#insert(text);
    this.#dequeue.run(last.n);
    return changes.length === FLUSHED_MAX;
  }

  /** Takes away texts that say so, or are of a partition that is called so, with their vectors. `hashes` is a list as JSON. */
  erase(hashes: string): void {
    const erased = this.#selectErased.all(hashes) as unknown as readonly Erased[];
    for (const { id, space, words } of erased) {
      for (const statement of [this.#deleteWords, this.#deleteVectors, this.#deleteText]) statement.run(id);
      if (this.#discount.run(words, space).changes === 0) this.#deleteEmpty.run(space);
    }
    // 'secure-delete' takes words out of pages; copies that were left in a page when rows moved to another one go only with the index.
    if (erased.length > 0) this.#rebuildWords.run();
  }

  /** Takes all away. */
  reset(): void {
    this.#db.exec(noTexts);
    this.#db.exec(texts);
    this.#db.exec('DELETE FROM fact_text_queue');
  }

  /** @throws {StoreError} where the embedder has vectors of other dimensions */
  putVectors(embedder: string, vectors: readonly FactVector[]): void {
    const [first] = vectors;
    if (first === undefined) return;
    this.#insertEmbedder.run(embedder, first.vector.length);
    const found = this.#selectEmbedder.get(embedder) as unknown as { embedder: number; dimensions: number };
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

  #insert({ key, partition, content, audit, day, words }: NewText): void {
    const space = this.#count.get(partition.space, words.length)!['space'] as number;
    const { lastInsertRowid } = this.#insertText.run(key, content, audit, day, space, words.length);
    this.#insertWords.run(lastInsertRowid, words.map((word) => ` ${space}_${word}`).join('') + ' ', key, words.length);
  }
}

interface Erased {
  readonly id: number;
  readonly space: number;
  readonly words: number;
}

/** What a text is named by for others: its number may come to be another's, when facts are made anew. */
export const TEXT_NAME = `t.id || '-' || lower(substr(hex(p.names), 1, 32)) || lower(substr(hex(t.content), 1, 32)) || t.audit || t.day`;
