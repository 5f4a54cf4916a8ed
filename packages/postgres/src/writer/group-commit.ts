import { setImmediate } from 'node:timers';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Batch, CommitResult } from 'assize/internal/ledger';
import type { OracleRow } from 'assize/internal/oracle';
import type { StoreError } from 'assize/internal/stores/errors.ts';
import type { Session } from '../connection/session.ts';
import {
  ConnectionLost,
  isSerializationFailure,
  storeError,
  unknownCommitError,
} from '../errors.ts';
import { PartitionCache } from '../facts/partition-cache.ts';
import { AdaptiveBatchSize } from './batch-size.ts';
import { type AppendOptions, type Appends, Group, prepareAppend } from './commit.ts';
import { BatchJob, type Job, OperationJob, OracleJob, type RowsJob } from './job.ts';
import { NotificationRate } from './notification-rate.ts';
import type { Writer } from './writer.ts';

/** The rows and bytes at which a group is full, so no caller waits for an endless group. */
export const GROUP_ROWS_MAX = 1_024;
export const GROUP_BYTES_MAX: number = 4 * 2 ** 20;

/**
 * The maximum number of calls for one group. Each further call means that another writer committed
 * first, so more than a few are very unlikely.
 */
const CALLS_MAX = 100;

export interface GroupCommitOptions extends AppendOptions {
  readonly writer: Writer;
  /** Whether followers are notified of commits. */
  readonly tell: boolean;
}

/**
 * Writes in groups. When the server is free, all waiting jobs go to it in one statement, in the
 * order of the calls. `batch-size.ts` can split them. Each caller is answered when the server has
 * the group on disk. A batch may build on a waiting batch. If that batch fails, the later one is a
 * conflict.
 *
 * If the connection is lost during a statement, its batches are answered `unknown`. All other
 * waiting jobs use the next connection.
 */
export class GroupCommit {
  readonly #options: GroupCommitOptions;
  readonly #append: Appends;
  /** The cached partitions after reads and commits, for the next change. */
  readonly knownFacts: PartitionCache = new PartitionCache();
  readonly #pace = new AdaptiveBatchSize();
  readonly #notifications = new NotificationRate(() => this.run(announceIn(this.#options.schema)));
  #waiting: Job[] = [];
  /** The number of callers without an answer. */
  #asking = 0;
  /** The answers of the last call, in order, until they are delivered. */
  #untold: (() => void)[] | undefined;
  #isAtWork = false;
  #whenIdle: (() => void)[] = [];

  constructor(options: GroupCommitOptions) {
    this.#options = options;
    this.#append = prepareAppend(options);
  }

  /** Rejects if nothing was written because the server refused or could not be reached. */
  commit(batch: Batch): Promise<CommitResult> {
    return this.#asked((resolve, reject) => new BatchJob(batch, resolve, reject));
  }

  /** Resolves to the row that is stored after the call. */
  put(row: OracleRow, within?: string): Promise<OracleRow> {
    return this.#asked((resolve, reject) => new OracleJob({ row, within }, resolve, reject));
  }

  /**
   * Resolves to the result of the step. The step has the connection exclusively and may be
   * repeated.
   */
  run<T>(step: (session: Session) => Promise<T>): Promise<T> {
    return this.#asked((resolve, reject) => new OperationJob(step, resolve, reject));
  }

  /** Resolves when no job waits any more, and the followers are notified. */
  async close(): Promise<void> {
    await this.#idle();
    await this.#notifications.close();
  }

  #idle(): Promise<void> {
    if (!this.#isAtWork) return Promise.resolve();
    return new Promise((resolve) => this.#whenIdle.push(resolve));
  }

  #asked<T>(
    jobOf: (resolve: (answer: T) => void, reject: (error: StoreError) => void) => Job,
  ): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#waiting.push(jobOf(this.#inOrder(resolve), this.#inOrder(reject)));
      this.#asking += 1;
      this.#pace.asking(this.#asking);
      if (!this.#isAtWork) void this.#work();
    });
  }

  /** Delivers an answer after the answers of the last call. */
  #inOrder<A>(tell: (answer: A) => void): (answer: A) => void {
    return (answer) => {
      const told = (): void => {
        this.#asking -= 1;
        tell(answer);
      };
      if (this.#untold === undefined) told();
      else this.#untold.push(told);
    };
  }

  async #work(): Promise<void> {
    this.#isAtWork = true;
    for (await nextTurn(); this.#waiting.length > 0; await this.#ready()) await this.#turn();
    this.#isAtWork = false;
    for (const resolve of this.#whenIdle.splice(0)) resolve();
  }

  // Each turn runs in an immediate, after all ready events, because calls over sockets arrive one
  // event at a time. Jobs that are written while others are prepared do not wait for these events.
  async #ready(): Promise<void> {
    if (!this.#isNextDue) await nextTurn();
  }

  /** Whether enough jobs for the next call are waiting. */
  get #isNextDue(): boolean {
    return this.#waiting.length >= this.#pace.enough;
  }

  async #turn(): Promise<void> {
    let session: Session;
    try {
      session = await this.#options.writer.session();
    } catch (error) {
      const failure = storeError(error, this.#options.path, 'Writing to');
      for (const job of this.#waiting.splice(0)) job.fail(failure);
      return;
    }
    const [first] = this.#waiting;
    if (first instanceof OperationJob)
      await this.#step(session, this.#waiting.shift() as OperationJob);
    else await this.#together(session, this.#waiting.splice(0, this.#groupSize()) as RowsJob[]);
  }

  async #together(session: Session, jobs: readonly RowsJob[]): Promise<void> {
    const answers: (() => void)[] = [];
    this.#untold = answers;
    this.#pace.sent(jobs.length);
    const group = new Group(jobs, this.knownFacts);
    const wasWritten = await this.#group(session, group);
    if (wasWritten && group.calls === 1) this.#pace.called(group.lastMs, jobs.length);
    const tell = (): void => this.#tell(answers);
    // An answered caller continues immediately. The next group is therefore sent before the
    // answers.
    if (this.#isNextDue) setImmediate(tell);
    else tell();
  }

  #tell(answers: readonly (() => void)[]): void {
    if (this.#untold === answers) this.#untold = undefined;
    if (answers.length === 0) return;
    this.#pace.answered(this.#asking);
    const began = performance.now();
    for (const answer of answers) answer();
    setImmediate(() => this.#pace.made(performance.now() - began, answers.length));
  }

  async #step(session: Session, job: OperationJob): Promise<void> {
    try {
      job.answer(await job.run(session));
    } catch (error) {
      this.#settle(error, [job], [job]);
    }
  }

  /** False if some jobs have no answer from the server. */
  async #group(session: Session, group: Group): Promise<boolean> {
    const tells = this.#options.tell && group.hasEntries && this.#notifications.next();
    for (let calls = 1; ; calls += 1) {
      try {
        if (await group.write(session, this.#append, tells)) return true;
        if (calls === CALLS_MAX) throw new Error(`other writers committed first ${calls} times`);
      } catch (error) {
        if (isSerializationFailure(error) && calls < CALLS_MAX) continue;
        this.#settle(error, group.open, group.sent);
        return false;
      }
    }
  }

  /** Answers jobs with a failed statement, or queues them again. */
  #settle(error: unknown, open: readonly Job[], sent: readonly Job[]): void {
    const { path, writer } = this.#options;
    if (!(error instanceof ConnectionLost)) {
      const failure = storeError(error, path, 'Writing to');
      for (const job of open) job.fail(failure);
      return;
    }
    const inDoubt = new Set(error.wasSent ? sent : []);
    if (inDoubt.size > 0) writer.statementLost();
    const doubt = unknownCommitError(path, error);
    this.#waiting.unshift(...open.filter((job) => !inDoubt.has(job) || job.doubt(doubt)));
  }

  #groupSize(): number {
    let rows = 0;
    let bytes = 0;
    let size = 0;
    let erases = false;
    const most = this.#pace.take(this.#waiting.length);
    for (const job of this.#waiting) {
      if (job instanceof OperationJob || size >= most) break;
      rows += job.rows;
      bytes += job.bytes;
      if (size > 0 && (rows > GROUP_ROWS_MAX || bytes > GROUP_BYTES_MAX)) break;
      const { erased = [], facts = [] } = job instanceof BatchJob ? job.batch : {};
      // Facts after an erasure are checked against the server's new state, because a partition can
      // have another name.
      if (erases && facts.length > 0) break;
      erases ||= erased.length > 0;
      size += 1;
    }
    return size;
  }
}

/** Tells the followers that they may have missed commits. */
function announceIn(schema: string): (session: Session) => Promise<unknown> {
  return (session) => session.run({ text: 'SELECT pg_notify($1, $2)' }, [schema, '']);
}
