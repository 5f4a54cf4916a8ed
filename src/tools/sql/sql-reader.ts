import { z } from 'zod';
import { type Call, declareTool, type Tool, type ToolSpec } from '#effects';
import { callback, readOptions, SAID, type Said, said, scopes, zodSchema } from '../options.ts';
import { SqlPart } from './part.ts';
import { type SqlDatabase, type SqlRow, sqlDatabase } from './port.ts';
import type { SqlStatement } from './statements.ts';
import { cutOffWith, rollBack, used } from './use.ts';

/** A statement on the caller's database that only reads, as a tool. */
export interface SqlReaderOptions<Schema extends z.ZodType = z.ZodType> extends Said<Schema> {
  readonly input: Schema;
  readonly reads: NonNullable<ToolSpec<Schema>['reads']>;
  readonly database: SqlDatabase;
  /** What is asked: one statement, so that what it answers was there all at once. */
  readonly statement: (input: z.infer<Schema>) => SqlStatement;
  /** What of the rows is the answer; by default the rows. */
  readonly result?: (rows: readonly SqlRow[], input: z.infer<Schema>) => unknown;
}

const OPTIONS = z.strictObject({
  ...SAID,
  input: zodSchema,
  reads: scopes,
  database: sqlDatabase,
  statement: callback,
  result: callback.optional(),
});

/**
 * A tool that reads by a statement. It sees what was committed in the database, and, where the database is held, what its own transaction
 * of tools has done there (`SqlDatabase.heldMs`).
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
    ...said(read),
    input,
    class: 'read',
    reads,
    ...(database.heldMs === undefined ? {} : { sees: { at: database, part } }),
    execute: async (given: any, { signal, epoch }: Call) => {
      const use = await used(database, 'read', signal, { epoch });
      const isHeard = cutOffWith(signal, use);
      try {
        return await part.read(use.connection, given, signal);
      } catch (error) {
        // Where there is nothing to roll back, that tells whether the connection is of use yet.
        await rollBack(use);
        throw error;
      } finally {
        isHeard();
        await use.over().catch(() => undefined);
      }
    },
  });
}
