import { isAssizeError, type Json } from 'assize/internal/base';
import { canonicalize, copyJson } from 'assize/internal/canon';
import { type CallContext, DidNothing } from 'assize/internal/effects';
import type { EffectRows } from './effect-rows.ts';
import type { SqlConnection, SqlDatabase, SqlRow } from './port.ts';
import { refusal } from './refusal.ts';
import { runAll, type SqlStatement } from './statements.ts';
import { guardTransaction } from './still-open.ts';
import type { SqlWork } from './transact.ts';

/** The declaration of one tool's statements. */
export interface SqlPartOptions {
  readonly name: string;
  readonly placeholders?: SqlDatabase['placeholders'];
  readonly statements: (input: any) => readonly SqlStatement[];
  readonly result?: ((rows: readonly (readonly SqlRow[])[], input: any) => unknown) | undefined;
  readonly undo?: ((input: any, result: any) => readonly SqlStatement[]) | undefined;
  readonly isTransient?: ((error: unknown) => boolean) | undefined;
}

/**
 * The work of one tool in a database transaction that several tools may share. The work is
 * repeatable: each run passes copies to the declaration.
 */
export class SqlPart {
  readonly #options: SqlPartOptions;

  constructor(options: SqlPartOptions) {
    this.#options = options;
  }

  /** Also true if the declared function throws. */
  isTransient(error: unknown): boolean {
    try {
      return this.#options.isTransient?.(error) ?? true;
    } catch {
      return true;
    }
  }

  /** Runs the statements outside of a transaction, and returns their answer. */
  read(connection: SqlConnection, input: Json, signal: AbortSignal): Promise<Json> {
    return this.#answer((statements) => runAll(connection, statements, this.#with(signal)), input);
  }

  /**
   * Runs the statements in a transaction, and returns their answer.
   * @throws TransactionEnded if the transaction no longer exists afterwards
   */
  answer(connection: SqlConnection, input: Json, signal: AbortSignal): Promise<Json> {
    return this.#answer(
      (statements) => runAll(guardTransaction(connection), statements, this.#with(signal)),
      input,
    );
  }

  /**
   * The key is written first, so one of two concurrent attempts waits there. If `told` is given,
   * the work must return that answer.
   */
  work(input: Json, call: CallContext, told?: Json): SqlWork {
    return {
      call,
      isTransient: (error) => this.isTransient(error),
      isDone: (found) => found !== undefined,
      make: async (connection, rows) => {
        await this.addKey(rows, call.key);
        const answer = await this.answer(connection, input, call.signal);
        if (told !== undefined && canonicalize(answer) !== canonicalize(told))
          throw differs(answer);
        await this.answerKey(rows, call.key, answer);
      },
    };
  }

  /** If the database has no row of the effect, there is nothing to compensate. */
  undoing(input: Json, result: Json, call: CallContext): SqlWork {
    return {
      call,
      isTransient: (error) => this.isTransient(error),
      lock: (rows) => rows.lock(call.key),
      isDone: (found) => found === undefined || found.isUndone,
      make: async (connection, rows) => {
        await rows.undoing(call.key);
        await runAll(
          guardTransaction(connection),
          this.#options.undo!(copyJson(input), copyJson(result)),
          this.#with(call.signal),
        );
        await rows.undo(call.key);
        if ((await rows.of(call.key))?.isUndone !== true) throw notThere();
      },
    };
  }

  /** A duplicate key comes from a concurrent attempt. A retry finds it ended. */
  async addKey(rows: EffectRows, key: string): Promise<void> {
    try {
      await rows.add(key, this.#options.name);
    } catch (cause) {
      throw new DidNothing(`its key could not be written: ${(cause as Error)?.message}`, {
        cause,
        why: refusal(cause),
      });
    }
  }

  /**
   * @throws DidNothing if the key no longer exists: without it, a later attempt would repeat the
   * effect
   */
  async answerKey(rows: EffectRows, key: string, answer: Json): Promise<void> {
    await rows.answer(key, answer);
    if ((await rows.of(key)) === undefined) throw notThere();
  }

  async #answer(
    run: (statements: readonly SqlStatement[]) => ReturnType<typeof runAll>,
    input: Json,
  ): Promise<Json> {
    const { name, statements, result } = this.#options;
    const found = await run(statements(copyJson(input)));
    const answer = result?.(found, copyJson(input)) ?? null;
    try {
      return copyJson(answer, { foreign: true });
    } catch (cause) {
      if (!isAssizeError(cause, 'too_large')) throw cause;
      // The work is rolled back, and a retry would return an equally long answer.
      throw new DidNothing(
        `the answer of ${name} is too long: more than 1 MiB as JSON. Request less at a time`,
        {
          final: true,
          cause,
          why: 'answer_too_long',
        },
      );
    }
  }

  #with(signal: AbortSignal): Parameters<typeof runAll>[2] {
    return { signal, placeholders: this.#options.placeholders };
  }
}

function notThere(): DidNothing {
  const what = 'its statements lost its key in assize_effects: one of them deleted the row, or';
  return new DidNothing(`${what} set another schema. Qualify names with a schema instead`, {
    final: true,
  });
}

function differs(answer: Json): DidNothing {
  const why = 'its statements answer differently than while the body ran, so nothing was committed';
  return new DidNothing(why, { final: true, answer, why: 'answers_otherwise' });
}
