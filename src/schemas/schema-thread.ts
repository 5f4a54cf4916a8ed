import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { Json } from '#base';

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
 * schema or a pattern that takes longer than the budget ends the thread, and is unusable.
 */
export class SchemaThread {
  #worker: Promise<Worker> | undefined;
  #turn: Promise<unknown> = Promise.resolve();

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
      const answered = once(worker, 'message', { signal }).then(([answer]) => answer as SchemaAnswer);
      const ended = once(worker, 'exit', { signal }).then(() => 'ended' as const);
      const late = pause(BUDGET_MS, 'late' as const, { signal });
      for (const each of [answered, ended, late]) each.catch(() => undefined);
      const end = await Promise.race([answered, ended, late]);
      if (typeof end === 'object') return end;
      await this.close();
      const much = end === 'late' ? `more than ${BUDGET_MS} ms` : `more than ${MEMORY_MB} MB`;
      return { unusable: `it takes ${much} to check`, fault: undefined };
    } finally {
      isOver.abort();
    }
  }

  async #started(): Promise<Worker> {
    const worker = new Worker(new URL('./schema-worker.ts', import.meta.url), {
      execArgv: [],
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB },
    });
    worker.unref();
    try {
      await once(worker, 'message');
    } catch (error) {
      this.#worker = undefined;
      throw error;
    }
    // An error is followed by the exit, which a waiting check notices.
    worker.on('error', () => undefined).on('exit', () => (this.#worker = undefined));
    return worker;
  }
}
