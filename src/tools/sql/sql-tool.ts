import { z } from 'zod';
import { copyJson, type Json } from '#canon';
import { type Call, type Delivery, DidNothing, declareTool, type Tool, type ToolSpec, type Undone } from '#effects';
import { callback, readOptions, scopes } from '../options.ts';
import { EFFECTS_TABLE, type EffectRow, EffectRows } from './effect-rows.ts';
import type { SqlConnection, SqlDatabase, SqlRow, SqlValue } from './port.ts';

export interface SqlStatement {
  readonly text: string;
  readonly values?: readonly SqlValue[];
}

/** Statements on the caller's database as a tool. */
export interface SqlToolOptions<Schema extends z.ZodType = z.ZodType>
  extends Pick<ToolSpec<Schema>, 'name' | 'description' | 'input' | 'reads' | 'plan' | 'cost' | 'channel'> {
  readonly writes: NonNullable<ToolSpec<Schema>['writes']>;
  readonly database: SqlDatabase;
  /** What is done, in one transaction of the database. */
  readonly statements: (input: z.infer<Schema>) => readonly SqlStatement[];
  /** What of the rows, those of each statement, is the result; by default null. */
  readonly result?: (rows: readonly (readonly SqlRow[])[], input: z.infer<Schema>) => unknown;
  /** What undoes it, in one transaction of the database. Without it, it is irreversible. */
  readonly undo?: (input: z.infer<Schema>, result: any) => readonly SqlStatement[];
  /** `buffered`, by default: done after the commit. `externalised`: at once, and undone where it comes to no commit. */
  readonly delivery?: Delivery;
  /** Whether an error may be none another time, as a lock or a serialization failure. By default each may. */
  readonly isPassing?: (error: unknown) => boolean;
}

const OPTIONS = z.strictObject({
  name: z.string(),
  description: z.string().optional(),
  input: z.custom<z.ZodType>((value) => value instanceof z.ZodType, 'a zod schema'),
  reads: scopes.optional(),
  writes: scopes.optional(),
  plan: callback.optional(),
  cost: callback.optional(),
  database: z.custom<SqlDatabase>(
    (value) => typeof (value as SqlDatabase | null | undefined)?.connect === 'function',
    'a database, with connect',
  ),
  statements: callback,
  result: callback.optional(),
  undo: callback.optional(),
  delivery: z.enum(['buffered', 'externalised']).optional(),
  channel: z.string().optional(),
  isPassing: callback.optional(),
});

/**
 * A tool that runs statements in one transaction of the caller's database, into which the key of the effect is written too, so
 * that it is done once however often it is called.
 *
 * @throws EffectError `invalid_tool`
 */
export function sqlTool<Schema extends z.ZodType>(options: SqlToolOptions<Schema>): Tool {
  const read = readOptions(OPTIONS, options) as unknown as SqlToolOptions;
  const { name, description, input, reads, writes, plan, cost, undo, channel, delivery = 'buffered' } = read;
  const table = new SqlEffects(read);
  return declareTool({
    name,
    input,
    class: { reversibility: undo === undefined ? 'irreversible' : 'reversible', delivery, sink: 'keyed' },
    writes,
    ...(description === undefined ? {} : { description }),
    ...(reads === undefined ? {} : { reads }),
    ...(plan === undefined ? {} : { plan }),
    ...(cost === undefined ? {} : { cost }),
    ...(channel === undefined ? {} : { channel }),
    ...(undo === undefined
      ? {}
      : { compensate: (given: unknown, result: unknown, call: Call) => table.undo(() => undo(given, result), call) }),
    execute: (given, call) => table.execute(given, call),
  });
}

/** Who uses a connection, and who waits for it. */
const queues = new WeakMap<SqlConnection, Promise<unknown>>();

/** A transaction is this tool's own: a statement that ends it would take away what it promises. */
const CONTROL = /^\s*(begin|start|commit|end|rollback|abort|savepoint|release|prepare\s+transaction)\b/i;

class SqlEffects {
  readonly #options: SqlToolOptions;
  #hasTable = false;

  constructor(options: SqlToolOptions) {
    this.#options = options;
  }

  async execute(input: unknown, call: Call): Promise<Json> {
    const { name, statements, result } = this.#options;
    const row = await this.#once(call, {
      isDone: (found) => found !== undefined,
      make: async (connection, rows) => {
        await rows.add(call.key, name);
        const found = await runAll(connection, statements(input), call.signal);
        await rows.answer(call.key, copyJson(result?.(found, input) ?? null, { foreign: true }));
      },
    });
    return row!.result;
  }

  async undo(statements: () => readonly SqlStatement[], call: Call): Promise<Undone> {
    await this.#once(call, {
      isDone: (found) => found === undefined || found.isUndone,
      make: async (connection, rows) => {
        await runAll(connection, statements(), call.signal);
        await rows.undo(call.key);
      },
    });
    return { undone: 'all' };
  }

  /** @throws DidNothing where the database has nothing of it; another error where nobody knows */
  async #once(call: Call, work: Work): Promise<EffectRow | undefined> {
    const { database } = this.#options;
    const connection = await this.#unless(() => database.connect());
    return inTurn(connection, async () => {
      const use: Use = { connection, rows: new EffectRows(connection, database.placeholders ?? '?'), isBroken: false };
      try {
        return await this.#transact(use, call, work);
      } finally {
        await connection.close?.(use.isBroken);
      }
    });
  }

  async #transact(use: Use, call: Call, work: Work): Promise<EffectRow | undefined> {
    const { connection, rows } = use;
    await this.#unless(() => this.#begin(connection, call));
    let row: EffectRow | undefined;
    try {
      row = await rows.of(call.key);
      if (!work.isDone(row)) {
        await work.make(connection, rows);
        row = await rows.of(call.key);
      }
    } catch (error) {
      // Where even this fails, the connection goes, and its transaction with it: nothing was committed.
      await rollBack(use);
      throw this.#nothing(error);
    }
    try {
      await connection.commit();
      return row;
    } catch (error) {
      // It may have come after the deed. Who has the connection still can ask.
      if (!(await rollBack(use))) throw error;
      const known = await rows.of(call.key);
      if (work.isDone(known)) return known;
      throw this.#nothing(error);
    }
  }

  async #begin(connection: SqlConnection, { signal }: Call): Promise<void> {
    signal.throwIfAborted();
    if (!this.#hasTable) await connection.query(EFFECTS_TABLE, []);
    this.#hasTable = true;
    await connection.begin();
  }

  async #unless<T>(make: () => T | Promise<T>): Promise<T> {
    try {
      return await make();
    } catch (error) {
      throw this.#nothing(error);
    }
  }

  #nothing(error: unknown): DidNothing {
    if (error instanceof DidNothing) return error;
    const { isPassing = () => true } = this.#options;
    const what = error instanceof Error ? error.message : 'the database refused it';
    return new DidNothing(what, { final: !isPassing(error), cause: error });
  }
}

interface Work {
  /** Whether there is nothing to be done any more. */
  isDone(row: EffectRow | undefined): boolean;
  make(connection: SqlConnection, rows: EffectRows): Promise<void>;
}

interface Use {
  readonly connection: SqlConnection;
  readonly rows: EffectRows;
  isBroken: boolean;
}

async function runAll(
  connection: SqlConnection,
  statements: readonly SqlStatement[],
  signal: AbortSignal,
): Promise<(readonly SqlRow[])[]> {
  const rows: (readonly SqlRow[])[] = [];
  for (const { text, values = [] } of statements) {
    signal.throwIfAborted();
    if (CONTROL.test(text))
      throw new DidNothing(`a transaction is begun and ended here alone: ${text}`, { final: true });
    rows.push(await connection.query(text, values));
  }
  return rows;
}

async function rollBack(use: Use): Promise<boolean> {
  try {
    await use.connection.rollback();
  } catch {
    use.isBroken = true;
  }
  return !use.isBroken;
}

function inTurn<T>(connection: SqlConnection, make: () => Promise<T>): Promise<T> {
  const before = queues.get(connection) ?? Promise.resolve();
  const done = before.then(make, make);
  queues.set(connection, done);
  return done;
}
