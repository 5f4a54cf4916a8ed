import { z } from 'zod';
import { copyJson, type Json } from '#canon';
import {
  type Call,
  type Delivery,
  DidNothing,
  declareTool,
  type Together,
  type TogetherCall,
  type Tool,
  type ToolSpec,
  type Undone,
} from '#effects';
import { callback, readOptions, scopes } from '../options.ts';
import type { EffectRows } from './effect-rows.ts';
import type { SqlConnection, SqlDatabase, SqlRow, SqlValue } from './port.ts';
import { type SqlWork, transact } from './transact.ts';

export interface SqlStatement {
  readonly text: string;
  readonly values?: readonly SqlValue[];
}

/** Statements on the caller's database as a tool. */
export interface SqlToolOptions<Schema extends z.ZodType = z.ZodType>
  extends Pick<ToolSpec<Schema>, 'name' | 'description' | 'input' | 'reads' | 'plan' | 'cost' | 'channel'> {
  readonly writes: NonNullable<ToolSpec<Schema>['writes']>;
  readonly database: SqlDatabase;
  /** What is done, in one transaction of the database with all else that is held for it. */
  readonly statements: (input: z.infer<Schema>) => readonly SqlStatement[];
  /** What of the rows, those of each statement, is the result; by default null. */
  readonly result?: (rows: readonly (readonly SqlRow[])[], input: z.infer<Schema>) => unknown;
  /** What undoes it, in one transaction of the database as it was done. Without it, it is irreversible. */
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
 * A tool that runs statements in a transaction of the caller's database, into which the key of the effect is written too, so
 * that it is done once however often it is called. All that one transaction of tools holds for one database (the same object) until its
 * commit is one transaction there: nobody who reads it sees a part of that.
 *
 * @throws EffectError `invalid_tool`
 */
export function sqlTool<Schema extends z.ZodType>(options: SqlToolOptions<Schema>): Tool {
  const read = readOptions(OPTIONS, options) as unknown as SqlToolOptions;
  const { name, description, input, reads, writes, plan, cost, undo, channel, delivery = 'buffered' } = read;
  const part = new SqlPart(read);
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
      : {
          compensate: async (given: unknown, result: unknown, call: Call) =>
            (await undone(read.database, [{ part, input: given, result: result as Json, call }]))[0] as Undone,
        }),
    ...(delivery === 'buffered' ? { together: togetherAt(read.database, part) } : {}),
    execute: async (given, call) => (await executed(read.database, [{ part, input: given, call }]))[0],
  });
}

/** All at one database are one step. */
function togetherAt(database: SqlDatabase, part: SqlPart): Together {
  return {
    at: database,
    part,
    execute: (calls) => executed(database, calls),
    compensate: (calls) => undone(database, calls),
  };
}

async function executed(database: SqlDatabase, calls: readonly TogetherCall[]): Promise<readonly Json[]> {
  const rows = await transact(
    database,
    calls.map(({ part, input, call }) => (part as SqlPart).work(input, call)),
  );
  return rows.map((row) => row!.result);
}

async function undone(database: SqlDatabase, calls: readonly TogetherCall[]): Promise<readonly Undone[]> {
  const works = calls.map(({ part, input, result, call }) => (part as SqlPart).undoing(input, result!, call));
  await transact(database, works.reverse());
  return calls.map(() => ({ undone: 'all' }));
}

/** A transaction is this tool's own: a statement that ends it would take away what it promises. */
const CONTROL = /^\s*(begin|start|commit|end|rollback|abort|savepoint|release|prepare\s+transaction)\b/i;

/** What one tool does in transactions that may be of several. */
class SqlPart {
  readonly #options: SqlToolOptions;

  constructor(options: SqlToolOptions) {
    this.#options = options;
  }

  work(input: unknown, call: Call): SqlWork {
    const { name, statements, result, isPassing = () => true } = this.#options;
    return {
      call,
      isPassing,
      isDone: (found) => found !== undefined,
      make: async (connection, rows) => {
        await added(rows, call.key, name);
        const found = await runAll(connection, statements(input), call.signal);
        await rows.answer(call.key, copyJson(result?.(found, input) ?? null, { foreign: true }));
      },
    };
  }

  /** Where the database has nothing of it, there is nothing to undo. */
  undoing(input: unknown, result: Json, call: Call): SqlWork {
    const { undo, isPassing = () => true } = this.#options;
    return {
      call,
      isPassing,
      isDone: (found) => found === undefined || found.isUndone,
      make: async (connection, rows) => {
        await runAll(connection, undo!(input, result), call.signal);
        await rows.undo(call.key);
      },
    };
  }
}

/** Whoever meets the key there meets who does the same at once: that is over another time. */
async function added(rows: EffectRows, key: string, tool: string): Promise<void> {
  try {
    await rows.add(key, tool);
  } catch (cause) {
    throw new DidNothing(`its key could not be written: ${(cause as Error)?.message}`, { cause });
  }
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
