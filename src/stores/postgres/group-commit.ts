import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Batch, CommitResult } from '#ledger';
import type { OracleRow } from '#oracle';
import { type Appends, Group, prepareAppend } from './commit.ts';
import { ConnectionLost, doubtError, isOutrun, storeError } from './errors.ts';
import { BatchJob, type Job, OracleJob, type RowsJob, StepJob } from './job.ts';
import { KnownFacts } from './known-facts.ts';
import { Pace } from './pace.ts';
import type { Session } from './session.ts';
import type { Writer } from './writer.ts';

/** Rows and bytes after which a group takes no more jobs, so that no caller waits for an endless one. */
export const GROUP_ROWS_MAX = 1_024;
export const GROUP_BYTES_MAX: number = 4 * 2 ** 20;

/** How often a group is sent at most. Each time another writer was faster; more than a few times is next to impossible. */
const CALLS_MAX = 100;

export interface GroupCommitOptions {
  readonly path: string;
  readonly schema: string;
  readonly writer: Writer;
  /** Whether followers are told of new heads. */
  readonly tell: boolean;
}

/**
 * Writes in groups: whatever waits when the server is free goes to it in one statement (as a rule: `pace.ts`), in the order of the calls,
 * and each caller is answered when the server has it on disk. A batch may build on one that still waits; when that one fails, it is
 * a conflict.
 *
 * When the connection is lost under a statement, the batches in it are answered `unknown`; all else that waits is sent over
 * the next connection.
 */
export class GroupCommit {
  readonly #options: GroupCommitOptions;
  readonly #append: Appends;
  /** What reads and commits leave of partitions for the next change. */
  readonly knownFacts: KnownFacts = new KnownFacts();
  readonly #pace = new Pace();
  #waiting: Job[] = [];
  /** Jobs of the call that is made, without an answer. */
  #underWay = 0;
  /** When the first of its answers was given. */
  #answeredAt: number | undefined;
  #isAtWork = false;
  #whenIdle: (() => void)[] = [];

  constructor(options: GroupCommitOptions) {
    this.#options = options;
    this.#append = prepareAppend(options.schema, options.path);
  }

  /** Rejects when nothing was written because the server refused, or could not be reached. */
  commit(batch: Batch): Promise<CommitResult> {
    return new Promise((resolve, reject) => this.#enqueue(new BatchJob(batch, this.#later(resolve), reject)));
  }

  /** The row that is in the store afterwards. */
  put(row: OracleRow, within?: string): Promise<OracleRow> {
    return new Promise((resolve, reject) =>
      this.#enqueue(new OracleJob({ row, within }, this.#later(resolve), reject)),
    );
  }

  /** What the step answers, which has the connection to itself and may be repeated. */
  run<T>(step: (session: Session) => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => this.#enqueue(new StepJob(step, resolve, reject)));
  }

  /** Settles when nothing waits any more. */
  idle(): Promise<void> {
    if (!this.#isAtWork) return Promise.resolve();
    return new Promise((resolve) => this.#whenIdle.push(resolve));
  }

  /** Answers when what waits is sent, where that does not wait itself: whoever is answered goes on at once, and it would wait for them. */
  #later<T>(resolve: (result: T) => void): (result: T) => void {
    return (result) => {
      this.#answers();
      if (this.#goesOn) setImmediate(resolve, result);
      else resolve(result);
    };
  }

  #answers(): void {
    if (this.#answeredAt === undefined) {
      this.#answeredAt = performance.now();
      this.#pace.answered(this.#waiting.length + this.#underWay);
    }
    this.#underWay -= 1;
  }

  /** Whether the next call is made without waiting for others who ask. */
  get #goesOn(): boolean {
    return this.#waiting.length >= this.#pace.most;
  }

  #enqueue(job: Job): void {
    this.#waiting.push(job);
    this.#pace.asking(this.#waiting.length + this.#underWay);
    if (!this.#isAtWork) void this.#work();
  }

  async #work(): Promise<void> {
    this.#isAtWork = true;
    for (await nextTurn(); this.#waiting.length > 0; await this.#ready()) await this.#turn();
    this.#isAtWork = false;
    for (const resolve of this.#whenIdle.splice(0)) resolve();
  }

  // Each turn in an immediate, after all events that are ready: calls that come over sockets come one event at a time. But what is to be
  // written while others are made is not kept waiting for them.
  async #ready(): Promise<void> {
    if (!this.#goesOn) await nextTurn();
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
    if (first instanceof StepJob) await this.#step(session, this.#waiting.shift() as StepJob);
    else await this.#timed(session, this.#waiting.splice(0, this.#groupSize()) as RowsJob[]);
  }

  async #timed(session: Session, jobs: readonly RowsJob[]): Promise<void> {
    const began = performance.now();
    this.#underWay = jobs.length;
    this.#answeredAt = undefined;
    await this.#group(session, new Group(jobs, this.knownFacts));
    this.#underWay = 0;
    const answered = this.#answeredAt;
    if (answered === undefined) return;
    this.#pace.called(answered - began, jobs.length);
    // After all of them have gone on.
    setImmediate(() => this.#pace.made(performance.now() - answered, jobs.length));
  }

  async #step(session: Session, job: StepJob): Promise<void> {
    try {
      job.answer(await job.run(session));
    } catch (error) {
      this.#settle(error, [job], [job]);
    }
  }

  async #group(session: Session, group: Group): Promise<void> {
    for (let calls = 1; ; calls += 1) {
      try {
        if (await group.write(session, this.#append, this.#options.tell)) return;
        if (calls === CALLS_MAX) throw new Error(`other writers were faster ${calls} times`);
      } catch (error) {
        if (isOutrun(error) && calls < CALLS_MAX) continue;
        return this.#settle(error, group.open, group.sent);
      }
    }
  }

  /** Answers jobs whose statement failed, or lets them wait again. */
  #settle(error: unknown, open: readonly Job[], sent: readonly Job[]): void {
    const { path, writer } = this.#options;
    if (!(error instanceof ConnectionLost)) {
      const failure = storeError(error, path, 'Writing to');
      for (const job of open) job.fail(failure);
      return;
    }
    const inDoubt = new Set(error.wasSent ? sent : []);
    if (inDoubt.size > 0) writer.lost();
    const doubt = doubtError(path, error);
    this.#waiting.unshift(...open.filter((job) => !inDoubt.has(job) || job.doubt(doubt)));
  }

  #groupSize(): number {
    let rows = 0;
    let bytes = 0;
    let size = 0;
    const { most } = this.#pace;
    for (const job of this.#waiting) {
      if (job instanceof StepJob || size >= most) break;
      rows += job.rows;
      bytes += job.bytes;
      if (size > 0 && (rows > GROUP_ROWS_MAX || bytes > GROUP_BYTES_MAX)) break;
      size += 1;
    }
    return size;
  }
}
