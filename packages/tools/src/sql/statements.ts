import { DidNothing } from 'assize/internal/effects';
import type { SqlConnection, SqlDatabase, SqlRow, SqlValue } from './port.ts';
import { readingsOf } from './readings.ts';

export interface SqlStatement {
  /** One statement. A semicolon may end it. */
  readonly text: string;
  readonly values?: readonly SqlValue[];
}

/**
 * The start of a statement that starts, ends or configures a transaction or savepoint. Only the
 * tool may do that. Also the start of a statement that sets the client encoding: a part of a
 * character could then be a quote.
 */
const CONTROL = new RegExp(
  `^(?:${[
    ...[
      'begin',
      'start',
      'commit',
      'end',
      'rollback',
      'abort',
      'savepoint',
      'release',
      'prepare transaction',
      'xa',
    ],
    'set (?:(?:global|session|local|persist) )?(?:transaction|characteristics|autocommit|client_encoding|names)',
    'reset (?:all|client_encoding)',
  ].join('|')})\\b`,
);

/** Why a text cannot run in the tool's own transaction. Undefined if it can. */
export function problemOf(
  text: string,
  placeholders?: SqlDatabase['placeholders'],
): string | undefined {
  const readings = readingsOf(text, placeholders);
  if (readings.flat().some((words) => CONTROL.test(words)))
    return 'only the tool starts and ends transactions';
  if (readings.some((found) => found.length > 1))
    return 'a text must be one statement. Pass statements separately, and values with semicolons as parameters';
  return undefined;
}

/**
 * The rows of each statement, in order.
 *
 * @throws DidNothing for a text that is not a single statement, or that would start or end a
 *   transaction; the errors of the database
 */
export async function runAll(
  connection: Pick<SqlConnection, 'query'>,
  statements: readonly SqlStatement[],
  {
    signal,
    placeholders,
  }: { readonly signal: AbortSignal; readonly placeholders: SqlDatabase['placeholders'] },
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
