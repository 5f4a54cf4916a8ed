import type { Json } from 'assize/internal/base';
import {
  type AtomicBatch,
  type BatchedCall,
  type CallContext,
  type CompensationResult,
  type Delivery,
  declareTool,
  type Tool,
  type ToolSpec,
} from 'assize/internal/effects';
import { z } from 'zod';
import {
  COMMON_OPTIONS,
  type CommonToolOptions,
  callback,
  pickToolOptions,
  readOptions,
  scopes,
  zodSchema,
} from '../options.ts';
import { SqlPart } from './part.ts';
import { type SqlDatabase, type SqlRow, sqlDatabase } from './port.ts';
import { StagedSql } from './staged-sql.ts';
import type { SqlStatement } from './statements.ts';
import { transact } from './transact.ts';

/** Statements on the caller's database as a tool. */
export interface SqlToolOptions<Schema extends z.ZodType = z.ZodType>
  extends CommonToolOptions<Schema>,
    Pick<ToolSpec<Schema>, 'input' | 'reads' | 'plan' | 'channel'> {
  readonly writes: NonNullable<ToolSpec<Schema>['writes']>;
  readonly database: SqlDatabase;
  /**
   * The statements of the effect. They run in one database transaction with all other buffered
   * calls for the database.
   */
  readonly statements: (input: z.infer<Schema>) => readonly SqlStatement[];
  /** Derives the result from the rows of each statement. Default: null. */
  readonly result?: (rows: readonly (readonly SqlRow[])[], input: z.infer<Schema>) => unknown;
  /**
   * The compensating statements. They run in one database transaction. Without them, the tool is
   * irreversible.
   */
  readonly undo?: (input: z.infer<Schema>, result: any) => readonly SqlStatement[];
  /**
   * `buffered`, the default: runs after the commit. `externalised`: executes immediately, and is
   * compensated if the transaction aborts.
   */
  readonly delivery?: Delivery;
  /**
   * Whether a retry may succeed after an error, such as a lock or a serialization failure. Default:
   * true for every error.
   */
  readonly isTransient?: (error: unknown) => boolean;
}

const OPTIONS = z.strictObject({
  ...COMMON_OPTIONS,
  input: zodSchema,
  reads: scopes.optional(),
  writes: scopes.optional(),
  plan: callback.optional(),
  database: sqlDatabase,
  statements: callback,
  result: callback.optional(),
  undo: callback.optional(),
  delivery: z.enum(['buffered', 'externalised']).optional(),
  channel: z.string().optional(),
  isTransient: callback.optional(),
});

/**
 * A tool that runs statements in a transaction of the caller's database. The transaction also
 * writes the key of the effect, so any number of attempts has one effect. All calls that a tool
 * transaction buffers for one database (the same object) commit in one database transaction. No
 * reader sees a part of them.
 *
 * @throws EffectError `invalid_tool`
 */
export function sqlTool<Schema extends z.ZodType>(options: SqlToolOptions<Schema>): Tool {
  const read = readOptions(OPTIONS, options) as unknown as SqlToolOptions;
  const { input, writes, undo, delivery = 'buffered' } = read;
  const part = new SqlPart({ ...read, placeholders: read.database.placeholders });
  return declareTool({
    ...pickToolOptions(read),
    input,
    class: {
      reversibility: undo === undefined ? 'irreversible' : 'reversible',
      delivery,
      sink: 'keyed',
    },
    writes,
    ...(undo === undefined
      ? {}
      : {
          compensate: async (given: unknown, result: unknown, call: CallContext) =>
            (
              await undone(read.database, [{ part, input: given, result: result as Json, call }])
            )[0] as CompensationResult,
        }),
    ...(delivery === 'buffered' ? { batch: batchAt(read.database, part) } : {}),
    execute: async (given, call) =>
      (await executed(read.database, [{ part, input: given, call }]))[0],
  });
}

/** All calls on one database form one batch. */
function batchAt(database: SqlDatabase, part: SqlPart): AtomicBatch {
  return {
    at: database,
    part,
    execute: (calls) => executed(database, calls),
    ...(database.stagedTimeoutMs === undefined ? {} : { stage: () => new StagedSql(database) }),
    compensate: (calls) => undone(database, calls),
  };
}

async function executed(
  database: SqlDatabase,
  calls: readonly BatchedCall[],
): Promise<readonly Json[]> {
  const rows = await transact(
    database,
    calls.map(({ part, input, call, reported }) => (part as SqlPart).work(input, call, reported)),
  );
  return rows.map((row) => row!.result);
}

async function undone(
  database: SqlDatabase,
  calls: readonly BatchedCall[],
): Promise<readonly CompensationResult[]> {
  const works = calls.map(({ part, input, result, call }) =>
    (part as SqlPart).undoing(input, result!, call),
  );
  await transact(database, works.reverse());
  return calls.map(() => ({ undone: 'all' }));
}
