import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { ChurnMap } from '#base';
import type { Batch, CommitResult } from '#ledger';
import { Askers } from '../../callers-in-flight.ts';
import { StoreError, type StoreErrorCode } from '../../errors.ts';
import type { Durability } from '../../options.ts';
import { poisonedError, sqliteError, sqliteFailure, storeError } from '../errors.ts';
import { flatBatch } from './batch-message.ts';
import type { StepName, Steps } from './steps.ts';
import type { Writing } from './writer.ts';

/** What the thread is given. */
export interface WritingTask {
  readonly path: string;
  readonly durability: Durability;
  readonly lockTimeoutMs: number;
  /** How long opening the file may wait for others. */
  readonly openWithinMs: number;
}

/** What it is asked for: a method of `Writing`, or a step, with its arguments; a batch as `flatBatch` makes it. */
export type Ask = readonly [
  id: number,
  name: Exclude<keyof Writing, 'failure' | 'learn' | 'step'> | StepName,
  ...given: unknown[],
];

/** What it answers with; its first message says that it is ready, or why it is not. */
export interface Answers {
  /** One after the other, three for each: who has asked, whether it is an error, and the answer. */
  readonly answers: readonly unknown[];
  /** From then on it answers nothing more. */
  readonly failure?: Packed;
}

/** An error on its way from one thread to another: only its class and members of its own would be lost. */
export interface Packed {
  readonly message: string;
  readonly errcode?: number;
  readonly store?: Pick<StoreError, 'code' | 'evidence' | 'retryable'>;
  readonly cause?: Packed;
}

interface Asking {
  /** For a commit, of which nobody can tell then whether it is written; anything else may be asked for again. */
  readonly doubt: (failure: StoreError) => void;
  readonly resolve: (answer: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Writes in a thread of its own, by a connection of its own (`writing-worker.ts`): this one goes on meanwhile, while rows are written and
 * the disk syncs them.
 *
 * A thread that ends by itself is a failed write: what it was asked for is answered `unknown`.
 */
export class WritingAside implements Writing {
  readonly #path: string;
  readonly #worker: Worker;
  readonly #ended: Promise<unknown>;
  readonly #onFailure: () => void;
  #waiting: Ask[] = [];
  #isScheduled = false;
  readonly #askers = new Askers();
  #lastId = 0;
  readonly #asking = new ChurnMap<number, Asking>();
  #isEnding = false;
  #failure: StoreError | undefined;

  private constructor(worker: Worker, path: string, onFailure: () => void) {
    this.#path = path;
    this.#worker = worker;
    this.#onFailure = onFailure;
    this.#ended = once(worker, 'exit').catch(() => undefined);
    worker.on('message', this.#take);
    worker.once('messageerror', (error: unknown) => this.#fail(poisonedError(path, error)));
    worker.once('error', (error: unknown) => this.#fail(poisonedError(path, error)));
    worker.once('exit', () => {
      if (this.#isEnding && this.#asking.size === 0) return;
      this.#fail(poisonedError(path, new Error('the thread that writes has ended')));
    });
    // An open store keeps no process alive.
    worker.unref();
  }

  /** `onFailure`: once, as soon as nothing is written any more. @throws what opening the file throws */
  static async open(task: WritingTask, onFailure: () => void): Promise<WritingAside> {
    const worker = new Worker(workerFile(), { workerData: task, execArgv: [] });
    const isReady = once(worker, 'message') as Promise<[Answers]>;
    const hasEnded = once(worker, 'exit').then(() => Promise.reject(new Error('the thread that writes has ended')));
    const [{ failure }] = await Promise.race([isReady, hasEnded]);
    if (failure !== undefined) throw unpacked(failure);
    return new WritingAside(worker, task.path, onFailure);
  }

  get failure(): StoreError | undefined {
    return this.#failure;
  }

  commit(batch: Batch): Promise<CommitResult> {
    return new Promise((resolve, reject) => {
      const doubt = (failure: StoreError): void => resolve({ status: 'unknown', cause: failure });
      const refused = (error: unknown): void => reject(this.#storeError(error));
      const asking = { doubt, resolve: (result: unknown) => resolve(resultOf(result)), reject: refused };
      this.#ask(asking, 'commit', readBatch(batch));
    });
  }

  async step<Name extends StepName>(name: Name, ...given: Parameters<Steps[Name]>): Promise<ReturnType<Steps[Name]>> {
    try {
      return await this.#call(name, ...given);
    } catch (error) {
      throw this.#storeError(error);
    }
  }

  index(): Promise<boolean> {
    return this.#call('index');
  }

  scrub(): Promise<void> {
    return this.#call('scrub');
  }

  /** That thread reads for itself what it needs: it may have written since. */
  learn(): void {}

  idle(): Promise<void> {
    // With a thread that has ended nothing waits.
    return new Promise((resolve) => {
      const over = (): void => resolve();
      this.#ask({ doubt: over, resolve: over, reject: over }, 'idle');
    });
  }

  async end(): Promise<void> {
    this.#isEnding = true;
    try {
      await this.#call<void>('end');
    } finally {
      // Only then its connection is closed.
      this.#worker.ref();
      await this.#ended;
    }
  }

  /** Ends the thread as it is. */
  async stop(): Promise<void> {
    this.#isEnding = true;
    await this.#worker.terminate();
  }

  #storeError(error: unknown): StoreError {
    return storeError(error, this.#path, 'Writing to');
  }

  #call<T>(name: Ask[1], ...given: unknown[]): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#ask({ doubt: reject, resolve: resolve as (answer: unknown) => void, reject }, name, ...given);
    });
  }

  #ask(asking: Asking, name: Ask[1], ...given: unknown[]): void {
    if (this.#failure !== undefined) {
      asking.doubt(this.#failure);
      return;
    }
    if (this.#asking.size === 0) this.#worker.ref();
    this.#lastId += 1;
    this.#asking.set(this.#lastId, asking);
    this.#waiting.push([this.#lastId, name, ...given]);
    this.#askers.asking(this.#asking.size);
    if (this.#waiting.length >= this.#askers.half) this.#send();
    else if (!this.#isScheduled) {
      this.#isScheduled = true;
      setImmediate(this.#sendRest);
    }
  }

  readonly #sendRest = (): void => {
    this.#isScheduled = false;
    this.#send();
  };

  #send(): void {
    const asks = this.#waiting;
    if (asks.length === 0) return;
    this.#waiting = [];
    try {
      this.#worker.postMessage(asks);
    } catch {
      // One of them can't be copied; the others are none the worse for it.
      for (const ask of asks) this.#sendAlone(ask);
    }
  }

  #sendAlone(ask: Ask): void {
    try {
      this.#worker.postMessage([ask]);
    } catch (error) {
      const refused = new StoreError(
        'store_invalid_input',
        `What is to be written can't be copied to another thread (${messageOf(error)}); give it as plain values.`,
        { cause: error },
      );
      this.#answered(ask[0])?.reject(refused);
    }
  }

  readonly #take = ({ answers, failure }: Answers): void => {
    this.#askers.answered(this.#asking.size);
    for (let i = 0; i < answers.length; i += 3) {
      const asking = this.#answered(answers[i] as number);
      // It was told already, when the thread ended before this came.
      if (asking === undefined) continue;
      if (answers[i + 1] === true) asking.reject(unpacked(answers[i + 2] as Packed));
      else asking.resolve(answers[i + 2]);
    }
    if (failure !== undefined) this.#fail(this.#storeError(unpacked(failure)));
  };

  #answered(id: number): Asking | undefined {
    const asking = this.#asking.get(id);
    this.#asking.delete(id);
    if (this.#asking.size === 0 && !this.#isEnding) this.#worker.unref();
    return asking;
  }

  #fail(failure: StoreError): void {
    if (this.#failure !== undefined) return;
    this.#failure = failure;
    this.#waiting = [];
    this.#onFailure();
    for (const { doubt } of this.#asking.values()) doubt(failure);
    this.#asking.clear();
    // Nothing of it is listened to any more.
    void this.#worker.terminate();
  }
}

/** @throws {StoreError} `store_invalid_input` where it can't be read once more */
function readBatch(batch: Batch): readonly unknown[] {
  try {
    return flatBatch(batch);
  } catch (error) {
    throw new StoreError(
      'store_invalid_input',
      `What is to be written can't be read (${messageOf(error)}); give it as plain values.`,
      { cause: error },
    );
  }
}

/** A result that has no error in it has come across as it was. */
function resultOf(result: unknown): CommitResult {
  const given = result as CommitResult;
  return given.status === 'unknown' ? { status: 'unknown', cause: unpacked(given.cause as Packed) } : given;
}

export function packed(error: unknown): Packed {
  const message = messageOf(error);
  const errcode = sqliteFailure(error)?.errcode;
  const cause = error instanceof Error && error.cause !== undefined ? packed(error.cause) : undefined;
  const store =
    error instanceof StoreError
      ? { code: error.code, evidence: error.evidence, retryable: error.retryable }
      : undefined;
  return { message, ...(errcode !== undefined && { errcode }), ...(store && { store }), ...(cause && { cause }) };
}

export function unpacked({ message, errcode, store, cause }: Packed): Error {
  const details = cause === undefined ? {} : { cause: unpacked(cause) };
  if (store !== undefined) {
    const { code, evidence, retryable } = store;
    return new StoreError(code as StoreErrorCode, message, { evidence, retryable, ...details });
  }
  return errcode === undefined ? new Error(message, details) : sqliteError(errcode, message);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The worker beside this file: a source in the repository, JavaScript in the package. */
function workerFile(): URL {
  return new URL(`./writing-worker${import.meta.url.slice(import.meta.url.lastIndexOf('.'))}`, import.meta.url);
}
