import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { SideChange, SidePage, SideRow } from '#ledger';
import { requireRows } from '../connection/statements.ts';

/** Prepared at the first call, so that a reader opens a store of a schema without the table. */
export function prepareSideGet(
  db: DatabaseSync,
): (kind: string, key: string) => SideRow | undefined {
  const statement = prepareLater(
    db,
    'SELECT kind, key, version, body FROM side WHERE kind = ? AND key = ?',
  );
  return (kind, key) => {
    const row = statement().get(kind, key) as unknown as SideRow | undefined;
    return row && { ...row };
  };
}

/** The rows of one kind, by key. */
export function prepareSideList(db: DatabaseSync): (kind: string, page: SidePage) => SideRow[] {
  const statement = prepareLater(
    db,
    'SELECT kind, key, version, body FROM side WHERE kind = ? AND key > ? ORDER BY key LIMIT ?',
  );
  return (kind, { after = '', limit }) =>
    statement()
      .all(kind, after, limit)
      .map((row) => ({ ...(row as unknown as SideRow) }));
}

/** Writes all changes or none, inside a transaction. */
export function prepareSidePut(db: DatabaseSync): (changes: readonly SideChange[]) => boolean {
  const find = prepareLater(db, 'SELECT version FROM side WHERE kind = ? AND key = ?');
  const remove = prepareLater(db, 'DELETE FROM side WHERE version = ?');
  const insert = prepareLater(db, 'INSERT INTO side (kind, key, body) VALUES (?, ?, ?)');
  const isAsExpected = ({ kind, key, expected }: SideChange): boolean =>
    ((find().get(kind, key)?.['version'] as number | undefined) ?? null) === expected;
  return (changes) => {
    if (!changes.every(isAsExpected)) return false;
    for (const { kind, key, expected, body } of changes) {
      if (expected !== null) requireRows(remove().run(expected), 1);
      if (body !== null) requireRows(insert().run(kind, key, body), 1);
    }
    return true;
  };
}

function prepareLater(db: DatabaseSync, text: string): () => StatementSync {
  let statement: StatementSync | undefined;
  return () => {
    statement ??= db.prepare(text);
    return statement;
  };
}
