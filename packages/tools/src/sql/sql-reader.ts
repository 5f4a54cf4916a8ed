import { type CallContext, declareTool, type Tool, type ToolSpec } from 'assize/internal/effects';
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
import { borrowConnection, cutOffWith, rollBack } from './borrowed-connection.ts';
import { SqlPart } from './part.ts';
import { type SqlDatabase, type SqlRow, sqlDatabase } from './port.ts';
import type { SqlStatement } from './statements.ts';

/** A reading statement on the caller's database, as a tool. */
export interface SqlReaderOptions<Schema extends z.ZodType = z.ZodType>
  extends CommonToolOptions<Schema> {
  readonly input: Schema;
  readonly reads: NonNullable<ToolSpec<Schema>['reads']>;
  readonly database: SqlDatabase;
  /** A single statement, so that its rows come from one snapshot. */
  readonly statement: (input: z.infer<Schema>) => SqlStatement;
  /** Derives the result from the rows. Default: the rows. */
  readonly result?: (rows: readonly SqlRow[], input: z.infer<Schema>) => unknown;
}

const OPTIONS = z.strictObject({
  ...COMMON_OPTIONS,
  input: zodSchema,
  reads: scopes,
  database: sqlDatabase,
  statement: callback,
  result: callback.optional(),
});

/**
 * A tool that reads by a statement. The statement sees committed data and, with staging, the writes
 * of its own tool transaction (`SqlDatabase.stagedTimeoutMs`).
 *
 * @throws EffectError `invalid_tool`
 */
export function sqlReader<Schema extends z.ZodType>(options: SqlReaderOptions<Schema>): Tool {
  const read = readOptions(OPTIONS, options) as unknown as SqlReaderOptions;
  const { name, input, reads, database, statement, result } = read;
  const part = new SqlPart({
    name,
    placeholders: database.placeholders,
    statements: (given) => [statement(given)],
    result: ([rows = []], given) => (result === undefined ? rows : result(rows, given)),
  });
  return declareTool({
    ...pickToolOptions(read),
    input,
    class: 'read',
    reads,
    ...(database.stagedTimeoutMs === undefined ? {} : { readsStaged: { at: database, part } }),
    execute: async (given: any, { signal, epoch }: CallContext) => {
      const use = await borrowConnection(database, 'read', signal, { epoch });
      const isHeard = cutOffWith(signal, use);
      try {
        return await part.read(use.connection, given, signal);
      } catch (error) {
        // There is nothing to roll back, and the call shows whether the connection is still usable.
        await rollBack(use);
        throw error;
      } finally {
        isHeard();
        await use.over().catch(() => undefined);
      }
    },
  });
}
