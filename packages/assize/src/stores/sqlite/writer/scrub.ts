import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { BLOCKING_WAIT_MS } from '../connection/retry.ts';
import { requireRows } from '../connection/statements.ts';
import { isBusy } from '../errors.ts';
import { THREAD_BYTES_MIN } from './rewrite.ts';

interface Mark {
  readonly erasures: number;
  readonly rewritten: number;
  readonly cut: number;
}

/**
 * Removes the bytes of erased texts from the files.
 *
 * `PRAGMA secure_delete` overwrites deleted bytes in place. It misses copies in the unused part of
 * a page after its rows moved to another page. The scrubber therefore rewrites the file from its
 * tables (VACUUM). It then truncates the WAL. This moves the new pages into the file and drops the
 * old ones.
 *
 * Before that it rebuilds the full-text index. FTS5 keeps prefixes of words as keys of its pages
 * for as long as the pages exist, also prefixes of erased words.
 *
 * A worker thread rewrites a large file (`rewrite.ts`), because the rewriting thread can do nothing
 * else.
 *
 * The table `scrub` records the due work in numbers of erasures. The record survives a crash, and
 * counts erasures of other processes during the scrub.
 */
export class Scrubber {
  readonly #db: DatabaseSync;
  readonly #selectMark: StatementSync;
  readonly #selectBytes: StatementSync;
  readonly #rebuildWords: StatementSync;
  readonly #setRewritten: StatementSync;
  readonly #setCut: StatementSync;
  readonly #truncate: StatementSync;
  readonly #dontWait: StatementSync;
  readonly #wait: StatementSync;
  /** The erasures after which the file was rewritten, if the table cannot record them yet. */
  #rewritten = 0;

  constructor(db: DatabaseSync) {
    this.#db = db;
    this.#selectMark = db.prepare('SELECT erasures, rewritten, cut FROM scrub');
    this.#selectBytes = db.prepare(
      'SELECT page_count * page_size AS bytes FROM pragma_page_count, pragma_page_size',
    );
    this.#rebuildWords = db.prepare("INSERT INTO fact_words (fact_words) VALUES ('rebuild')");
    this.#setRewritten = db.prepare('UPDATE scrub SET rewritten = max(rewritten, ?)');
    this.#setCut = db.prepare('UPDATE scrub SET cut = max(cut, ?)');
    this.#truncate = db.prepare('PRAGMA wal_checkpoint(TRUNCATE)');
    this.#dontWait = db.prepare('PRAGMA busy_timeout = 0');
    this.#wait = db.prepare(`PRAGMA busy_timeout = ${BLOCKING_WAIT_MS}`);
  }

  /** Whether the rewrite is due, and the file is so large that the rewrite takes long. */
  get isLong(): boolean {
    const { erasures, rewritten } = this.#mark;
    if (rewritten >= erasures || this.#rewritten >= erasures) return false;
    return Number(this.#selectBytes.get()?.['bytes']) >= THREAD_BYTES_MIN;
  }

  /**
   * Rewrites the file if that is due, outside of a transaction.
   * @throws SQLite's error: busy if another connection writes
   */
  rewrite(): void {
    const { erasures, rewritten } = this.#mark;
    if (rewritten >= erasures) return;
    if (this.#rewritten < erasures) {
      this.#rebuildWords.run();
      this.#db.exec('VACUUM');
      this.#rewritten = erasures;
    }
    requireRows(this.#setRewritten.run(erasures), 1);
  }

  /**
   * Truncates the WAL if that is due. Returns false if a reader or a writer prevents it. `waits`:
   * whether to wait for a moment.
   */
  cut(waits: boolean): boolean {
    const { rewritten, cut } = this.#mark;
    if (cut >= rewritten) return true;
    if (!this.shorten(waits)) return false;
    try {
      requireRows(this.#setCut.run(rewritten), 1);
      return true;
    } catch (error) {
      if (isBusy(error)) return false;
      throw error;
    }
  }

  /**
   * Copies the WAL into the file and releases its space. Returns false if a reader or a writer
   * prevents it.
   */
  shorten(waits: boolean): boolean {
    if (!waits) this.#dontWait.get();
    try {
      return this.#truncate.get()?.['busy'] === 0;
    } catch (error) {
      if (isBusy(error)) return false;
      throw error;
    } finally {
      if (!waits) this.#wait.get();
    }
  }

  get #mark(): Mark {
    return this.#selectMark.get() as unknown as Mark;
  }
}
