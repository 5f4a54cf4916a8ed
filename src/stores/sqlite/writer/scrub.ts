import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { BLOCKING_WAIT_MS } from '../connection/retry.ts';
import { isBusy } from '../errors.ts';
import { ASIDE_BYTES } from './rewrite.ts';

interface Mark {
  readonly erasures: number;
  readonly rewritten: number;
  readonly cut: number;
}

/**
 * Takes the bytes of erased texts out of the files. `PRAGMA secure_delete` overwrites what is deleted where it stands, and no copies that
 * stayed behind in the unused part of a page when its rows moved to another one. So the file is written anew from what its tables have
 * (VACUUM), and then the WAL is cut, by which this comes into the file and the old pages go. Before that the index of words is made
 * anew: FTS5 keeps the beginnings of words by which it finds its pages for as long as the pages are there, whosever words they were.
 *
 * With a large file that is done in another thread (`rewrite.ts`), because nothing else is done in the one that waits for it.
 *
 * What is still to be done stands in the table `scrub`, in numbers of erasures: so neither a crash nor an erasure by another process in
 * between is forgotten.
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
  /** What the file was written anew after, where the table may not say so yet. */
  #rewritten = 0;

  constructor(db: DatabaseSync) {
    this.#db = db;
    this.#selectMark = db.prepare('SELECT erasures, rewritten, cut FROM scrub');
    this.#selectBytes = db.prepare('SELECT page_count * page_size AS bytes FROM pragma_page_count, pragma_page_size');
    this.#rebuildWords = db.prepare("INSERT INTO fact_words (fact_words) VALUES ('rebuild')");
    this.#setRewritten = db.prepare('UPDATE scrub SET rewritten = max(rewritten, ?)');
    this.#setCut = db.prepare('UPDATE scrub SET cut = max(cut, ?)');
    this.#truncate = db.prepare('PRAGMA wal_checkpoint(TRUNCATE)');
    this.#dontWait = db.prepare('PRAGMA busy_timeout = 0');
    this.#wait = db.prepare(`PRAGMA busy_timeout = ${BLOCKING_WAIT_MS}`);
  }

  /** Whether the file is still to be written anew, and so large that it takes long. */
  get isLong(): boolean {
    const { erasures, rewritten } = this.#mark;
    if (rewritten >= erasures || this.#rewritten >= erasures) return false;
    return Number(this.#selectBytes.get()?.['bytes']) >= ASIDE_BYTES;
  }

  /** Outside of a transaction: writes the file anew where it is due. @throws SQLite's error: busy where another connection writes */
  rewrite(): void {
    const { erasures, rewritten } = this.#mark;
    if (rewritten >= erasures) return;
    if (this.#rewritten < erasures) {
      this.#rebuildWords.run();
      this.#db.exec('VACUUM');
      this.#rewritten = erasures;
    }
    this.#setRewritten.run(erasures);
  }

  /** Cuts the WAL where it is due. False where it can't be now, because somebody reads in it or writes; `waits` for a moment. */
  cut(waits: boolean): boolean {
    const { rewritten, cut } = this.#mark;
    if (cut >= rewritten) return true;
    if (!this.shorten(waits)) return false;
    try {
      this.#setCut.run(rewritten);
      return true;
    } catch (error) {
      if (isBusy(error)) return false;
      throw error;
    }
  }

  /** Copies the WAL into the file and gives its space back. False where somebody reads in it or writes. */
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
