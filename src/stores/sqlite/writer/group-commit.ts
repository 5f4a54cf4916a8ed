import { statSync } from 'node:fs';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { isAssizeError } from '#base';
import type { Batch, CommitResult } from '#ledger';
import type { StoreError } from '../../errors.ts';
import { PAUSE_MS } from '../connection/retry.ts';
import { isBusy, isFull, isOutOfSpace, lockedError, notScrubbedError, poisonedError } from '../errors.ts';
import { WalCopier } from './checkpointer.ts';
import { BatchWriter, type Writers } from './commit.ts';
import { BatchJob, type Job, StepJob } from './job.ts';
import { rewriteAside } from './rewrite.ts';
import { Scrubber } from './scrub.ts';

/** Rows and bytes after which a group takes no more jobs, so that no caller waits for an endless one. */
export const GROUP_ROWS_MAX = 1_024;
export const GROUP_BYTES_MAX: number = 4 * 2 ** 20;

/** Pages in the WAL after which they are copied into the file; more make the few slow commits slower. */
export const CHECKPOINT_PAGES = 4_000;

/** Pages that are left to this thread of what another one copies, and how often that one goes on until it is so few. */
const REST_PAGES = 256;
const PASSES_MAX = 3;

/** Pages estimated between two looks at how long the WAL is. */
const LOOK_PAGES = 256;

/** A page in the WAL, with its header. */
const FRAME_BYTES = 4_096 + 24;

/** Between two tries to cut a WAL in which somebody reads. */
export const CUT_PAUSE_MS = 100;

interface Scrub {
  readonly resolve: () => void;
  readonly reject: (error: StoreError) => void;
}

/** `isDone`: false where no thread was to be had; then it is done in this one. */
type Aside = { readonly isDone: boolean } | { readonly failure: unknown };

export interface GroupCommitOptions {
  readonly path: string;
  readonly lockTimeoutMs: number;
}

/**
 * Writes in groups: whatever waits when a transaction starts goes into it, in the order of the calls, and each caller is
 * answered when the disk has it. A batch may build on one that still waits; when that one fails, it is a conflict.
 *
 * One failed write or sync poisons the handle: what waits is answered `unknown`, the database is closed, and `failure`
 * is set. A sync is never tried again, since the kernel may have dropped the pages that the first one could not write. Of the WAL, which was
 * synced, what finds no room in the file is copied later, and nothing has failed by that.
 * It ends in the same way where a newer version has migrated the file meanwhile; then nothing of what waits is written.
 */
export class GroupCommit {
  readonly #db: DatabaseSync;
  readonly #options: GroupCommitOptions;
  readonly #writer: BatchWriter;
  readonly #begin: StatementSync;
  readonly #commit: StatementSync;
  readonly #rollback: StatementSync;
  readonly #checkpoint: StatementSync;
  readonly #scrubber: Scrubber;
  readonly #walPath: string;
  readonly #copier: WalCopier;

  #waiting: Job[] = [];
  #scheduled = false;
  /** So many of the first waiting jobs were rolled back together because of one of them, and now go one by one. */
  #suspects = 0;
  #lockedSince: number | undefined;
  /** What jobs have written since the last checkpoint, in pages as estimated by them. */
  #pagesEstimated = 0;
  /** Pages in the WAL for one estimated, as the last checkpoint found it: it depends on the size of the indexes. */
  #pagesPerEstimate = 1;
  /** What jobs have written since the WAL was last looked at, in pages as estimated by them. */
  #pagesUnseen = 0;
  /** How long the WAL was at the last checkpoint: its frames are then written over, and it grows only where there are more. */
  #walBytes = 0;
  /** It has grown by as much as a checkpoint is due for, whatever was estimated. */
  #isWalLong = false;
  /** The WAL is being copied in another thread; what is written meanwhile is written. */
  #isCopying = false;
  /** All but the end of it was copied there, and the rest is for this thread. */
  #isRestDue = false;
  /** Who waits until nothing of what was erased is left. */
  #scrubs: Scrub[] = [];
  #unscrubbedSince: number | undefined;
  /** Another thread writes the file anew, and what is to be written here waits for it. */
  #isAside = false;
  /** What came of that, until it is looked at. */
  #aside: Aside | undefined;
  /** Set while the WAL still has what was erased, because somebody reads in it. */
  #cutting: NodeJS.Timeout | undefined;
  #whenIdle: (() => void)[] = [];
  #failure: StoreError | undefined;

  constructor(db: DatabaseSync, writers: Writers, options: GroupCommitOptions) {
    this.#db = db;
    this.#options = options;
    this.#writer = new BatchWriter(db, writers, options.path);
    this.#begin = db.prepare('BEGIN IMMEDIATE');
    this.#commit = db.prepare('COMMIT');
    this.#rollback = db.prepare('ROLLBACK');
    this.#checkpoint = db.prepare('PRAGMA wal_checkpoint(PASSIVE)');
    this.#scrubber = new Scrubber(db);
    // SQLite has it beside the file itself, where the path is a symbolic link.
    this.#walPath = `${db.location() ?? options.path}-wal`;
    this.#copier = new WalCopier(db, options.path);
  }

  /** Why the handle is poisoned; undefined as long as no write has failed. */
  get failure(): StoreError | undefined {
    return this.#failure;
  }

  /** Rejects with `store_locked` when nothing was written because another process held the lock for too long. */
  commit(batch: Batch): Promise<CommitResult> {
    return new Promise((resolve, reject) => this.#enqueue(new BatchJob(batch, this.#writer, resolve, reject)));
  }

  /**
   * What the step answers, which writes inside the transaction and may be repeated. Rejects with `store_locked` or
   * `store_poisoned`.
   */
  run<T>(step: () => T, size: { readonly rows: number; readonly bytes: number }): Promise<T> {
    return new Promise((resolve, reject) => this.#enqueue(new StepJob(step, size, resolve, reject)));
  }

  /**
   * Settles when the file has nothing of what was erased by then, nor the WAL, but for as long as somebody reads in it: then it is cut
   * when they have ended. All who wait at a time have it done once. Rejects with `store_not_scrubbed`, `store_poisoned`.
   */
  scrub(): Promise<void> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    return new Promise((resolve, reject) => {
      this.#scrubs.push({ resolve, reject });
      this.#schedule();
    });
  }

  /** Settles when nothing waits any more. */
  idle(): Promise<void> {
    if (this.isIdle) return Promise.resolve();
    return new Promise((resolve) => this.#whenIdle.push(resolve));
  }

  /** Before the database is closed, with nothing waiting: what was put off. @throws SQLite's error */
  async end(): Promise<void> {
    await this.#copier.end();
    clearTimeout(this.#cutting);
    if (this.#cutting !== undefined) this.#scrubber.cut(true);
  }

  /** Whether nobody waits for anything. */
  get isIdle(): boolean {
    return this.#waiting.length + this.#scrubs.length === 0;
  }

  #enqueue(job: Job): void {
    if (this.#failure !== undefined) {
      job.fail(this.#failure);
      return;
    }
    this.#waiting.push(job);
    this.#schedule();
  }

  // Not in a microtask: calls that come over sockets come one event at a time, and a microtask between two of them would
  // sync once a call. An immediate runs after all events that are ready.
  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(this.#turn);
  }

  readonly #turn = (): void => {
    this.#scheduled = false;
    if (!this.#db.isOpen) return; // closed since, with nothing waiting
    if (this.#isAside) return; // comes again when that is done
    try {
      // Before the next group and not after the last one, so that callers have their answers first.
      if (this.#isRestDue) this.#copyWal();
      else if (this.#isCheckpointDue()) this.#copyAside();
      if (this.#waiting.length > 0 && this.#tryBegin()) this.#writeGroup();
      if (this.#scrubs.length > 0) {
        // What is being copied can't be cut, and comes again when it is: nothing else may keep the process alive until then.
        if (this.#isCopying) this.#copier.hold(true);
        else this.#tryScrub();
      }
    } catch (error) {
      this.#poison(error);
    }
    if (this.#waiting.length > 0 || this.#isRestDue || this.#isCheckpointDue()) this.#schedule();
    if (this.isIdle) this.#nowIdle();
  };

  #nowIdle(): void {
    for (const resolve of this.#whenIdle.splice(0)) resolve();
  }

  /** False when another connection writes: then this turn comes again later, or everything that waits has failed. */
  #tryBegin(): boolean {
    try {
      this.#begin.run();
      this.#lockedSince = undefined;
      return true;
    } catch (error) {
      if (!isBusy(error)) throw error;
      this.#awaitLock(error);
      return false;
    }
  }

  #awaitLock(cause: unknown): void {
    const { path, lockTimeoutMs } = this.#options;
    const now = performance.now();
    this.#lockedSince ??= now;
    if (now - this.#lockedSince < lockTimeoutMs) {
      this.#scheduled = true;
      setTimeout(this.#turn, PAUSE_MS);
      return;
    }
    this.#lockedSince = undefined;
    this.#suspects = 0;
    const error = lockedError(path, lockTimeoutMs, cause);
    for (const job of this.#waiting.splice(0)) job.fail(error);
  }

  // Jobs leave the queue only once they are answered: whatever goes wrong, they are still among those that wait.
  #writeGroup(): void {
    const size = this.#suspects > 0 ? this.#suspects : this.#groupSize();
    this.#writer.begin();
    const written = this.#suspects > 0 ? this.#writeOneByOne(size) : this.#writeTogether(size);
    if (!written) {
      this.#rollback.run();
      this.#writer.forget();
      this.#suspects = size;
      return;
    }
    this.#writer.end();
    this.#commit.run();
    this.#suspects = 0;
    const group = size === this.#waiting.length ? this.#waiting : this.#waiting.slice(0, size);
    this.#waiting = size === this.#waiting.length ? [] : this.#waiting.slice(size);
    for (const job of group) {
      const { pages } = job;
      this.#pagesEstimated += pages;
      this.#pagesUnseen += pages;
      job.answer();
    }
    if (this.#pagesUnseen >= LOOK_PAGES) this.#lookAtWal();
  }

  #groupSize(): number {
    let rows = 0;
    let bytes = 0;
    let size = 0;
    for (const job of this.#waiting) {
      rows += job.rows;
      bytes += job.bytes;
      if (size > 0 && (rows > GROUP_ROWS_MAX || bytes > GROUP_BYTES_MAX)) break;
      size += 1;
    }
    return size;
  }

  /** False when one of the jobs left part of itself behind, so that the transaction has to be rolled back. */
  #writeTogether(size: number): boolean {
    for (let index = 0; index < size; index += 1) if (!this.#waiting[index]!.write()) return false;
    return true;
  }

  #writeOneByOne(size: number): boolean {
    for (let index = 0; index < size; index += 1) {
      this.#db.exec('SAVEPOINT job');
      if (!this.#waiting[index]!.write()) {
        this.#db.exec('ROLLBACK TO job');
        this.#writer.forget();
      }
      this.#db.exec('RELEASE job');
    }
    return true;
  }

  // What comes one by one dirties many times the pages of as much that came together, by which they were estimated; and a commit whose frames
  // make the file longer waits for that as well.
  #lookAtWal(): void {
    this.#pagesUnseen = 0;
    const bytes = this.#walSize();
    this.#walBytes = Math.min(this.#walBytes, bytes);
    this.#isWalLong = bytes - this.#walBytes > CHECKPOINT_PAGES * FRAME_BYTES;
  }

  #walSize(): number {
    try {
      return statSync(this.#walPath, { throwIfNoEntry: false })?.size ?? 0;
    } catch {
      // Then a checkpoint is due by what was written alone.
      return 0;
    }
  }

  #isCheckpointDue(): boolean {
    if (this.#isCopying) return false;
    return this.#isWalLong || this.#pagesEstimated * this.#pagesPerEstimate >= CHECKPOINT_PAGES;
  }

  /**
   * What was written until now is copied in another thread, and what was written meanwhile, until that is little. This thread would stand
   * still for tens of milliseconds for all of it.
   */
  async #copyAside(): Promise<void> {
    this.#isCopying = true;
    try {
      for (let pass = 0; pass < PASSES_MAX; pass++) {
        const before = this.#pagesEstimated;
        if (!(await this.#copier.copy())) break;
        if ((this.#pagesEstimated - before) * this.#pagesPerEstimate < REST_PAGES) break;
      }
    } catch (error) {
      // Where a write has failed meanwhile, that is why nothing is written any more. What found no room for a part of it finds none for
      // the rest either, which is put off then by this thread.
      if (this.#failure === undefined && !isFull(error)) this.#poison(error);
    }
    this.#isCopying = false;
    this.#copier.hold(false);
    this.#isRestDue = true;
    this.#schedule();
  }

  // PASSIVE waits for no one; what a reader still needs is copied next time. So is what found no room in the file: the WAL, which was synced
  // before, has all of it, and whoever copies copies and syncs all of it again.
  #copyWal(): void {
    try {
      const pages = Number(this.#checkpoint.get()?.['log']);
      this.#pagesPerEstimate = Math.min(Math.max(pages / this.#pagesEstimated, 1 / 8), 8);
    } catch (error) {
      if (!isFull(error)) throw error;
    }
    this.#pagesEstimated = 0;
    this.#pagesUnseen = 0;
    this.#walBytes = this.#walSize();
    this.#isWalLong = false;
    this.#isRestDue = false;
  }

  #tryScrub(): void {
    const { path, lockTimeoutMs } = this.#options;
    const aside = this.#aside;
    this.#aside = undefined;
    let failure: StoreError | undefined;
    try {
      if (aside !== undefined && 'failure' in aside) throw aside.failure;
      if (aside?.isDone !== false && this.#scrubber.isLong) {
        this.#rewriteAside();
        return;
      }
      this.#scrubber.rewrite();
      this.#cutWal(true);
    } catch (error) {
      this.#unscrubbedSince ??= performance.now();
      if (isBusy(error) && performance.now() - this.#unscrubbedSince < lockTimeoutMs) {
        setTimeout(() => this.#schedule(), PAUSE_MS);
        return;
      }
      if (!isBusy(error) && !isOutOfSpace(error)) throw error;
      this.#giveSpaceBack();
      failure = notScrubbedError(path, error);
    }
    this.#unscrubbedSince = undefined;
    for (const { resolve, reject } of this.#scrubs.splice(0)) {
      if (failure === undefined) resolve();
      else reject(failure);
    }
  }

  /** It is rolled back, and what of it has come into the WAL takes up space, until there is room to copy what was written before it. */
  #giveSpaceBack(): void {
    try {
      this.#scrubber.shorten(true);
    } catch (error) {
      if (!isOutOfSpace(error)) throw error;
    }
  }

  #rewriteAside(): void {
    this.#isAside = true;
    const over = (aside: Aside): void => {
      this.#isAside = false;
      this.#aside = aside;
      this.#schedule();
    };
    rewriteAside(this.#db, this.#options.path).then(
      (isDone) => over({ isDone }),
      (failure: unknown) => over({ failure }),
    );
  }

  /** Now, or when those have ended who read in it: no process has to stay for that, since the table knows that it is due. */
  #cutWal(waits: boolean): void {
    clearTimeout(this.#cutting);
    this.#cutting = undefined;
    if (!this.#scrubber.cut(waits)) this.#cutting = setTimeout(this.#cutLater, CUT_PAUSE_MS).unref();
  }

  readonly #cutLater = (): void => {
    if (!this.#db.isOpen) return;
    try {
      this.#cutWal(false);
    } catch (error) {
      if (isFull(error)) this.#cutting = setTimeout(this.#cutLater, CUT_PAUSE_MS).unref();
      else this.#poison(error);
    }
  };

  #poison(cause: unknown): void {
    let reason = cause;
    try {
      // Rolls back what is open and frees the locks, also when the caller never closes a poisoned store.
      this.#db.close();
    } catch (error) {
      reason = new AggregateError([cause, error], 'a write failed, and closing the database after it');
    }
    this.#pagesEstimated = 0;
    this.#isWalLong = false;
    this.#isRestDue = false;
    void this.#copier.end();
    const isMigrated = isAssizeError(cause, 'store_newer_schema');
    this.#failure = isMigrated ? (cause as StoreError) : poisonedError(this.#options.path, reason);
    for (const job of this.#waiting.splice(0)) {
      // That is found out before anything is written.
      if (isMigrated) job.fail(this.#failure);
      else job.doubt(this.#failure);
    }
    for (const { reject } of this.#scrubs.splice(0)) reject(this.#failure);
    // Also where it was no turn that failed: none comes any more.
    this.#nowIdle();
  }
}
