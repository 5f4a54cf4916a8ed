import type { DatabaseSync } from 'node:sqlite';
import type { OracleRow } from '#oracle';

/** The recorded answer. */
export function prepareOracleGet(db: DatabaseSync): (key: string) => OracleRow | undefined {
  const statement = db.prepare('SELECT answer, at FROM oracle WHERE key = unhex(?)');
  return (key) => {
    const row = statement.get(key);
    return row && { key, answer: row['answer'] as string, at: row['at'] as string };
  };
}

/** Inside a transaction: records the answer unless there is one, and returns the one that is there now. */
export function prepareOraclePut(
  db: DatabaseSync,
  get: (key: string) => OracleRow | undefined,
): (row: OracleRow) => OracleRow {
  const insert = db.prepare('INSERT INTO oracle (key, answer, at) VALUES (unhex(?), ?, ?) ON CONFLICT DO NOTHING');
  return (row) => {
    const { changes } = insert.run(row.key, row.answer, row.at);
    return changes === 0 ? get(row.key)! : { key: row.key, answer: row.answer, at: row.at };
  };
}
