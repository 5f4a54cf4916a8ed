import { statSync } from 'node:fs';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { clearTimeout, setImmediate, setTimeout } from 'node:timers';
import { isAssizeError } from '#base';
import type { Batch, CommitResult } from '#ledger';
import type { StoreError } from '../../errors.ts';
import type { OpenFiles } from '../connection/open-files.ts';
import { PAUSE_MS } from '../connection/retry.ts';
import {
  isBusy,
  isFull,
  isOutOfSpace,
  lockedError,
  notScrubbedError,
  poisonedError,
  storeError,
} from '../errors.ts';
import { Checkpointer } from './checkpointer.ts';
import { BatchWriter, type BatchWriterOptions, type Writers } from './commit.ts';
import { BatchJob, type Job, OperationJob } from './job.ts';
import { rewriteInThread } from './rewrite.ts';
import { Scrubber } from './scrub.ts';

/** The rows and bytes at which a group is full, so no caller waits for an endless group. */
export const GROUP_ROWS_MAX = 1_024;
export const GROUP_BYTES_MAX: number = 4 * 2 ** 20;

/**
 * The number of pages in the WAL at which they are copied into the file. More pages make the few
 * slow commits slower.
 */
export const CHECKPOINT_PAGES = 4_000;

/**
 * The number of pages that the worker leaves to this thread, and the maximum number of passes until
 * the rest is that small.
 */
const REST_PAGES = 256;
const PASSES_MAX = 3;

/** The estimated number of pages between two checks of the WAL's length. */
const LOOK_PAGES = 256;

/** The size of a page in the WAL, with its header. */
export const FRAME_BYTES = 4_096 + 24;

/** The pause between two attempts to truncate a WAL that is being read. */
export const CUT_PAUSE_MS = 100;

/** The refusals of a group before anything is written. */
const UNWRITTEN = ['store_other_schema', 'store_retired'] as const;

interface Scrub {
  readonly resolve: () => void;
  readonly reject: (error: StoreError) => void;
}

/** `isDone`: false if no thread was available. This thread then does the rewrite. */
type Aside = { readonly isDone: boolean } | { readonly failure: unknown };

export interface GroupCommitOptions extends BatchWriterOptions {
  readonly lockTimeoutMs: number;
  /** The files of a connection that writes. Undefined for a store in memory. */
  readonly files: OpenFiles | undefined;
}

/**
 * Writes in groups. A transaction contains all jobs that wait when it starts, in the order of the
 * calls. Each caller is answered when the transaction is durable. A batch may build on a waiting
 * batch. If that batch fails, the later one is a conflict.
 *
 * A failed write or sync poisons the handle: waiting jobs are answered `unknown`, the database is
 * closed, and `failure` is set. The class never retries a sync, because the kernel can have dropped
 * the pages that the first sync could not write.
 *
 * A full disk refuses the waiting jobs, and the handle stays usable: SQLite reports it before the
 * sync, and the WAL then has no commit of the transaction. A sync without space is a failed sync.
 *
 * WAL pages that find no space in the file are copied later. That is not a failure, because the WAL
 * is synced.
 *
 * The handle is also poisoned if a file of the store was removed, renamed or replaced: a commit is
 * answered only when it is in the file at the store's path.
 *
 * The handle is also poisoned if the schema of the file was migrated or changed, or the store was
 * retired. No waiting job is written then.
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
  readonly #copier: Checkpointer;

  #waiting: Job[] = [];
  #scheduled = false;
  /**
   * The number of first waiting jobs that were rolled back together because one of them failed.
   * They are now written one by one.
   */
  #suspects = 0;
  #lockedSince: number | undefined;
  /** The pages written since the last checkpoint, as estimated by the jobs. */
  #pagesEstimated = 0;
  /**
   * The number of WAL pages per estimated page, as measured by the last checkpoint. It depends on
   * the size of the indexes.
   */
  #pagesPerEstimate = 1;
  /** The pages written since the last check of the WAL's length, as estimated by the jobs. */
  #pagesUnseen = 0;
  /**
   * The length of the WAL at the last checkpoint. Later writes overwrite its frames, and the WAL
   * grows only beyond them.
   */
  #walBytes = 0;
  /** Whether the WAL has grown so far that a checkpoint is due, regardless of the estimate. */
  #isWalLong = false;
  /** Whether the worker is copying the WAL. Writes continue in the meantime. */
  #isCopying = false;
  /** Whether the worker has copied the WAL except its end. This thread must copy the end. */
  #isRestDue = false;
  /** The callers that wait until every erased byte is gone. */
  #scrubs: Scrub[] = [];
  #unscrubbedSince: number | undefined;
  /** Whether a worker thread is rewriting the file. Writes of this thread wait for the rewrite. */
  #isRewriting = false;
  /** The result of the rewrite, until this thread handles it. */
  #aside: Aside | undefined;
  /** Set while the WAL still contains erased bytes, because a reader uses the WAL. */
  #cutting: NodeJS.Timeout | undefined;
  #whenIdle: (() => void)[] = [];
  #failure: StoreError | undefined;
  #isDiskFull = false;

  constructor(db: DatabaseSync, writers: Writers, options: GroupCommitOptions) {
    this.#db = db;
    this.#options = options;
    this.#writer = new BatchWriter(db, writers, options);
    this.#begin = db.prepare('BEGIN IMMEDIATE');
    this.#commit = db.prepare('COMMIT');
    this.#rollback = db.prepare('ROLLBACK');
    this.#checkpoint = db.prepare('PRAGMA wal_checkpoint(PASSIVE)');
    // A long reader keeps the WAL from its restart, and it grows. The first commit after that
    // restart cuts it to the length that it has between two checkpoints.
    db.exec(`PRAGMA journal_size_limit = ${CHECKPOINT_PAGES * FRAME_BYTES}`);
    this.#scrubber = new Scrubber(db);
    // SQLite places the WAL next to the target of a symbolic link.
    this.#walPath = `${db.location() ?? options.path}-wal`;
    this.#copier = new Checkpointer(db, options.path);
  }

  /** The reason why the handle is poisoned; undefined as long as no write has failed. */
  get failure(): StoreError | undefined {
    return this.#failure;
  }

  /** Whether the last write found the disk full. */
  get isDiskFull(): boolean {
    return this.#isDiskFull;
  }

  /**
   * Rejects with `store_locked` if nothing was written because another process held the lock for
   * too long.
   */
  commit(batch: Batch): Promise<CommitResult> {
    return new Promise((resolve, reject) =>
      this.#enqueue(new BatchJob(batch, this.#writer, resolve, reject)),
    );
  }

  /**
   * Resolves to the result of the step. The step writes inside the transaction and may be repeated.
   * Rejects with `store_locked` or `store_poisoned`.
   */
  run<T>(step: () => T, size: { readonly rows: number; readonly bytes: number }): Promise<T> {
    return new Promise((resolve, reject) =>
      this.#enqueue(new OperationJob(step, size, resolve, reject)),
    );
  }

  /**
   * Resolves when neither the file nor the WAL contains bytes that were erased before the call. If
   * a reader uses the WAL, the WAL is truncated after the reader has ended. All concurrent callers
   * share one run. Rejects with `store_not_scrubbed` or `store_poisoned`.
   */
  scrub(): Promise<void> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    return new Promise((resolve, reject) => {
      this.#scrubs.push({ resolve, reject });
      this.#schedule();
    });
  }

  /** Resolves when no job waits any more. */
  idle(): Promise<void> {
    if (this.isIdle) return Promise.resolve();
    return new Promise((resolve) => this.#whenIdle.push(resolve));
  }

  /**
   * Completes the deferred work. Call this before the database is closed, when no job waits.
   * @throws SQLite's error
   */
  async end(): Promise<void> {
    await this.#copier.end();
    clearTimeout(this.#cutting);
    if (this.#cutting !== undefined) this.#scrubber.cut(true);
  }

  /** Whether no caller waits. */
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

  // Not in a microtask: calls over sockets arrive one event at a time, and a microtask between two
  // events would sync once per call. An immediate runs after all events that are ready.
  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(this.#turn);
  }

  readonly #turn = (): void => {
    this.#scheduled = false;
    if (!this.#db.isOpen) return; // closed in the meantime, with no job waiting
    if (this.#isRewriting) return; // the end of the rewrite schedules the turn again
    try {
      // Before the next group and not after the last one, so callers receive their answers first.
      if (this.#isRestDue) this.#copyWal();
      else if (this.#isCheckpointDue()) this.#checkpointInThread();
      if (this.#waiting.length > 0 && this.#tryBegin()) this.#writeGroup();
      if (this.#scrubs.length > 0) {
        // A WAL cannot be truncated during a copy. The end of the copy schedules this turn again,
        // and only the copy keeps the process alive until then.
        if (this.#isCopying) this.#copier.hold(true);
        else this.#tryScrub();
      }
    } catch (error) {
      if (isFull(error)) this.#refuseAll(error);
      else this.#poison(error);
    }
    if (this.#waiting.length > 0 || this.#isRestDue || this.#isCheckpointDue()) this.#schedule();
    if (this.isIdle) this.#nowIdle();
  };

  #nowIdle(): void {
    for (const resolve of this.#whenIdle.splice(0)) resolve();
  }

  /**
   * False if another connection writes. The turn then runs again later, or every waiting job has
   * failed.
   */
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

  // Jobs leave the queue only after their answer, so a failure finds every unanswered job in the
  // queue.
  #writeGroup(): void {
    const size = this.#suspects > 0 ? this.#suspects : this.#groupSize();
    this.#writer.begin();
    const written = this.#suspects > 0 ? this.#writeOneByOne(size) : this.#writeTogether(size);
    if (!written) {
      this.#rollback.run();
      this.#writer.invalidate();
      this.#suspects = size;
      return;
    }
    this.#writer.end();
    this.#commit.run();
    this.#options.files?.requireNamed();
    this.#suspects = 0;
    this.#isDiskFull = false;
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

  /** False if one of the jobs left a partial write, so the transaction must be rolled back. */
  #writeTogether(size: number): boolean {
    for (let index = 0; index < size; index += 1) if (!this.#waiting[index]!.write()) return false;
    return true;
  }

  #writeOneByOne(size: number): boolean {
    for (let index = 0; index < size; index += 1) {
      this.#db.exec('SAVEPOINT job');
      if (!this.#waiting[index]!.write()) {
        this.#db.exec('ROLLBACK TO job');
        this.#writer.invalidate();
      }
      this.#db.exec('RELEASE job');
    }
    return true;
  }

  // The estimate is based on the jobs in one group. In separate groups, the same jobs dirty many
  // times as many pages. A commit also takes longer if its frames extend the WAL file.
  #lookAtWal(): void {
    this.#pagesUnseen = 0;
    const bytes = this.#walSize();
    this.#walBytes = Math.min(this.#walBytes, bytes);
    this.#isWalLong = bytes - this.#walBytes > CHECKPOINT_PAGES * FRAME_BYTES;
  }

  #walSize(): number {
    try {
      return statSync(this.#walPath).size;
    } catch {
      // Without a length, the estimate alone decides when a checkpoint is due.
      return 0;
    }
  }

  #isCheckpointDue(): boolean {
    // A store in memory has no WAL.
    if (this.#isCopying || this.#options.files === undefined) return false;
    return this.#isWalLong || this.#pagesEstimated * this.#pagesPerEstimate >= CHECKPOINT_PAGES;
  }

  /**
   * Copies the WAL in the worker thread, repeatedly until the rest is small. A full copy in this
   * thread would block it for tens of milliseconds.
   */
  async #checkpointInThread(): Promise<void> {
    this.#isCopying = true;
    try {
      // The worker opens the file by its path.
      this.#options.files?.requireNamed();
      for (let pass = 0; pass < PASSES_MAX; pass++) {
        const before = this.#pagesEstimated;
        if (!(await this.#copier.copy())) break;
        if ((this.#pagesEstimated - before) * this.#pagesPerEstimate < REST_PAGES) break;
      }
    } catch (error) {
      // If a write has failed in the meantime, that failure is the reason. If the disk is full,
      // this thread finds no space for the rest either, and defers it.
      if (this.#failure === undefined && !isFull(error)) this.#poison(error);
    }
    this.#isCopying = false;
    this.#copier.hold(false);
    this.#isRestDue = true;
    this.#schedule();
  }

  // PASSIVE waits for no reader. Pages that a reader needs are copied next time. Pages that find no
  // space are also copied later: the synced WAL contains all of them, and the next checkpoint
  // copies and syncs all of them again.
  #copyWal(): void {
    try {
      const pages = Number(this.#checkpoint.get()?.['log']);
      this.#pagesPerEstimate = Math.min(Math.max(pages / this.#pagesEstimated, 1 / 8), 8);
    } catch (error) {
      if (!isFull(error)) throw error;
    }
    this.#pagesEstimated = 0;
    this.#options.files?.requireNamed();
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
      if (this.#options.files !== undefined && aside?.isDone !== false && this.#scrubber.isLong) {
        this.#rewriteInThread();
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

  /**
   * Releases the space of a rolled-back transaction. Its frames in the WAL take space until the
   * earlier frames can be copied.
   */
  #giveSpaceBack(): void {
    try {
      this.#scrubber.shorten(true);
    } catch (error) {
      if (!isOutOfSpace(error)) throw error;
    }
  }

  #rewriteInThread(): void {
    // The worker opens the file by its path.
    this.#options.files?.requireNamed();
    this.#isRewriting = true;
    const over = (aside: Aside): void => {
      this.#isRewriting = false;
      this.#aside = aside;
      this.#schedule();
    };
    rewriteInThread(this.#db, this.#options.path).then(
      (isDone) => over({ isDone }),
      (failure: unknown) => over({ failure }),
    );
  }

  /**
   * Truncates the WAL now, or after its readers have ended. The wait does not keep the process
   * alive, because the table records that the truncation is due.
   */
  #cutWal(waits: boolean): void {
    clearTimeout(this.#cutting);
    this.#cutting = undefined;
    if (!this.#scrubber.cut(waits))
      this.#cutting = setTimeout(this.#cutLater, CUT_PAUSE_MS).unref();
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

  /** The disk is full: nothing of the transaction was committed. */
  #refuseAll(cause: unknown): void {
    try {
      if (this.#db.isTransaction) this.#rollback.run();
    } catch (error) {
      this.#poison(new AggregateError([cause, error], 'a write failed, and then its rollback'));
      return;
    }
    this.#writer.invalidate();
    this.#suspects = 0;
    this.#isDiskFull = true;
    const refusal = storeError(cause, this.#options.path, 'Writing to');
    for (const job of this.#waiting.splice(0)) job.fail(refusal);
  }

  #poison(cause: unknown): void {
    let reason = cause;
    try {
      // Closing rolls back the open transaction and releases the locks, also if the caller never
      // closes a poisoned store.
      this.#db.close();
    } catch (error) {
      reason = new AggregateError(
        [cause, error],
        'a write failed, and then the close of the database',
      );
    }
    this.#pagesEstimated = 0;
    this.#isWalLong = false;
    this.#isRestDue = false;
    void this.#copier.end();
    const isUnwritten = UNWRITTEN.some((code) => isAssizeError(cause, code));
    const isExplained = isUnwritten || isAssizeError(cause, 'store_poisoned');
    this.#failure = isExplained ? (cause as StoreError) : poisonedError(this.#options.path, reason);
    for (const job of this.#waiting.splice(0)) {
      // The check finds a changed schema or a retirement before anything is written.
      if (isUnwritten) job.fail(this.#failure);
      else job.doubt(this.#failure);
    }
    for (const { reject } of this.#scrubs.splice(0)) reject(this.#failure);
    // The failure can occur outside of a turn, and no later turn runs.
    this.#nowIdle();
  }
}
