import { DidNothing } from '#effects';
import type { SqlConnection, SqlDatabase, SqlRow, SqlValue } from './port.ts';
import { readingsOf } from './readings.ts';

export interface SqlStatement {
  /** One statement. A semicolon may end it. */
  readonly text: string;
  readonly values?: readonly SqlValue[];
}

/**
 * How a statement begins that begins or ends a transaction, a part of one, or says how it goes: the
 * tool's is its own. Or one that says by which encoding the next text is read, so that a part of a
 * character may be a quote there.
 */
const CONTROL = new RegExp(
  `^(?:${[
    ...['begin', 'start', 'commit', 'end', 'rollback', 'abort', 'savepoint', 'release', 'prepare transaction', 'xa'],
    'set (?:(?:global|session|local|persist) )?(?:transaction|characteristics|autocommit|client_encoding|names)',
    'reset (?:all|client_encoding)',
  ].join('|')})\\b`,
);

/** Why a text can't be run in a transaction of the tool's own; undefined where it can. */
export function problemOf(text: string, placeholders?: SqlDatabase['placeholders']): string | undefined {
  const readings = readingsOf(text, placeholders);
  if (readings.flat().some((words) => CONTROL.test(words))) return 'a transaction is begun and ended here alone';
  if (readings.some((found) => found.length > 1))
    return 'a text is one statement; give each its own, and what may have a semicolon as a value';
  return undefined;
}

/**
 * The rows of each, in their order.
 *
 * @throws DidNothing for what is no single statement, or one that would begin or end a transaction;
 * what the database throws
 */
export async function runAll(
  connection: Pick<SqlConnection, 'query'>,
  statements: readonly SqlStatement[],
  { signal, placeholders }: { readonly signal: AbortSignal; readonly placeholders: SqlDatabase['placeholders'] },
): Promise<(readonly SqlRow[])[]> {
  for (const { text } of statements) {
    const problem = problemOf(text, placeholders);
    if (problem !== undefined) throw new DidNothing(`${problem}: ${text}`, { final: true });
  }
  const rows: (readonly SqlRow[])[] = [];
  for (const { text, values = [] } of statements) {
    signal.throwIfAborted();
    rows.push(await connection.query(text, values));
  }
  return rows;
}
