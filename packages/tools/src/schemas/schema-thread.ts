import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { Json } from 'assize/internal/base';

export interface AskedOfSchema {
  /** Names the schema, such as by its hash. */
  readonly key: string;
  readonly schema: Json;
  /** A value to check. Default: the schema alone is compiled. */
  readonly value?: Json;
}

export interface SchemaAnswer {
  /** Why the schema cannot be used. */
  readonly unusable: string | undefined;
  /** Why the value does not match the schema. */
  readonly fault: string | undefined;
}

const BUDGET_MS = 1_000;
const MEMORY_MB = 128;

/**
 * Compiles schemas of strangers and checks values in a thread of its own, one after the other. A
 * schema or a pattern that takes more time or memory than the budget ends the thread, and is
 * unusable.
 */
export class SchemaThread {
  #worker: Promise<Worker> | undefined;
  #turn: Promise<unknown> = Promise.resolve();
  readonly #budgetMs: number;

  /** `budgetMs`: the milliseconds of one check. */
  constructor(budgetMs: number = BUDGET_MS) {
    this.#budgetMs = budgetMs;
  }

  check(asked: AskedOfSchema): Promise<SchemaAnswer> {
    const turn = this.#turn.then(() => this.#checked(asked));
    this.#turn = turn.catch(() => undefined);
    return turn;
  }

  async close(): Promise<void> {
    const worker = this.#worker;
    this.#worker = undefined;
    await worker?.then((one) => one.terminate()).catch(() => undefined);
  }

  async #checked(asked: AskedOfSchema): Promise<SchemaAnswer> {
    this.#worker ??= this.#started();
    const worker = await this.#worker;
    const isOver = new AbortController();
    const { signal } = isOver;
    try {
      worker.postMessage(asked);
      // A thread that fails has an error, and then ends.
      const failed = (error: Error): string =>
        'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY'
          ? `it takes more than ${MEMORY_MB} MB to check`
          : `its check failed: ${error.message}`;
      const answered = once(worker, 'message', { signal }).then(
        ([answer]) => answer as SchemaAnswer,
        failed,
      );
      const ended = once(worker, 'exit', { signal }).then(
        () => 'its check ended the thread',
        failed,
      );
      const late = pause(this.#budgetMs, `it takes more than ${this.#budgetMs} ms to check`, {
        signal,
      });
      late.catch(() => undefined);
      const end = await Promise.race([answered, ended, late]);
      if (typeof end === 'object') return end;
      await this.close();
      return { unusable: end, fault: undefined };
    } finally {
      isOver.abort();
    }
  }

  async #started(): Promise<Worker> {
    const worker = new Worker(new URL('./schema-worker.ts', import.meta.url), {
      execArgv: [],
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB, maxYoungGenerationSizeMb: 8 },
    });
    worker.unref();
    try {
      await once(worker, 'message');
    } catch (error) {
      this.#worker = undefined;
      throw error;
    }
    // A waiting check notices the error, and the exit after it.
    worker.on('error', () => undefined).on('exit', () => (this.#worker = undefined));
    return worker;
  }
}
