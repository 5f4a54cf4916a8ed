import type { DatabaseSync, StatementSync } from 'node:sqlite';

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
