import type { DatabaseSync, StatementResultingChanges, StatementSync } from 'node:sqlite';
import { damagedError } from '../errors.ts';

/**
 * Requires that a statement wrote the rows that its caller gave. A trigger that is not part of the
 * schema can drop rows without an error. Returns the result of the statement.
 *
 * @throws an error that fails the write
 */
export function requireRows(
  result: StatementResultingChanges,
  rows: number,
): StatementResultingChanges {
  if (result.changes !== rows)
    throw damagedError(`the file kept ${result.changes} of ${rows} rows that were written`);
  return result;
}

/**
 * Prepares statements with texts that depend on the query, each text once. Rows are lists of their
 * columns.
 */
export function prepareByText(db: DatabaseSync): (text: string) => StatementSync {
  const prepared = new Map<string, StatementSync>();
  return (text) => {
    const known = prepared.get(text);
    if (known !== undefined) return known;
    const statement = db.prepare(text);
    statement.setReturnArrays(true);
    prepared.set(text, statement);
    return statement;
  };
}
