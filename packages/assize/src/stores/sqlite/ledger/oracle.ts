import type { DatabaseSync } from 'node:sqlite';
import type { ErasedAnswer } from '#ledger';
import type { OracleRow } from '#oracle';
import { damagedError } from '../errors.ts';

/** The recorded answer. */
export function prepareOracleGet(db: DatabaseSync): (key: string) => OracleRow | undefined {
  const statement = db.prepare(
    'SELECT answer, at, lower(hex(erased_by)) AS eraser FROM oracle WHERE key = unhex(?)',
  );
  return (key) => {
    const row = statement.get(key);
    if (row === undefined) return undefined;
    const { answer, at, eraser } = row as { answer: string; at: string; eraser: string };
    return { key, answer, at, ...(eraser !== '' && { erased_by: eraser }) };
  };
}

/** The answers that were put with a `within` and are not erased, by key. */
export function prepareOracleWithin(
  db: DatabaseSync,
): (within: string, page: { readonly after?: string; readonly limit: number }) => OracleRow[] {
  const statement = db.prepare(`
    SELECT lower(hex(o.key)) AS key, o.answer AS answer, o.at AS at
    FROM oracle_within AS w JOIN oracle AS o ON o.key = w.key
    WHERE w.within = unhex(?) AND w.key > unhex(?) AND o.erased_by IS NULL ORDER BY w.key LIMIT ?`);
  return (within, { after = '', limit }) =>
    statement.all(within, after, limit).map((row) => {
      const { key, answer, at } = row as unknown as OracleRow;
      return { key, answer, at };
    });
}

/** The erased answers, by key. */
export function prepareOracleErased(
  db: DatabaseSync,
): (page: { readonly after?: string; readonly limit: number }) => OracleRow[] {
  const statement = db.prepare(`
    SELECT lower(hex(key)) AS key, answer, at, lower(hex(erased_by)) AS eraser
    FROM oracle WHERE erased_by IS NOT NULL AND key > unhex(?) ORDER BY key LIMIT ?`);
  return ({ after = '', limit }) =>
    statement.all(after, limit).map((row) => {
      const { key, answer, at, eraser } = row as unknown as OracleRow & { readonly eraser: string };
      return { key, answer, at, erased_by: eraser };
    });
}

/**
 * Deletes answers inside a transaction, and records the erasing entry. A missing answer can never
 * be put later.
 */
export function prepareEraseAnswers(db: DatabaseSync): (erased: readonly ErasedAnswer[]) => void {
  const erase = db.prepare(`
    INSERT INTO oracle (key, answer, at, erased_by) VALUES (unhex(?), '', '', unhex(?))
    ON CONFLICT (key) DO UPDATE SET answer = '', erased_by = excluded.erased_by WHERE erased_by IS NULL`);
  const isErased = db.prepare(
    "SELECT 1 FROM oracle WHERE key = unhex(?) AND erased_by IS NOT NULL AND answer = ''",
  );
  return (erased) => {
    for (const { key, by } of erased) {
      erase.run(key, by);
      if (isErased.get(key) === undefined) throw damagedError(`the answer ${key} was not erased`);
    }
  };
}

/** Records the answer unless one exists, inside a transaction. Returns the stored answer. */
export function prepareOraclePut(
  db: DatabaseSync,
  get: (key: string) => OracleRow | undefined,
): (row: OracleRow, within?: string) => OracleRow {
  const list = db.prepare(
    'INSERT INTO oracle_within (within, key) VALUES (unhex(?), unhex(?)) ON CONFLICT DO NOTHING',
  );
  const isListed = db.prepare(
    'SELECT 1 FROM oracle_within WHERE within = unhex(?) AND key = unhex(?)',
  );
  const insert = db.prepare(
    'INSERT INTO oracle (key, answer, at) VALUES (unhex(?), ?, ?) ON CONFLICT DO NOTHING',
  );
  return (row, within) => {
    if (within !== undefined) {
      list.run(within, row.key);
      if (isListed.get(within, row.key) === undefined)
        throw damagedError(`the answer ${row.key} was not listed`);
    }
    if (insert.run(row.key, row.answer, row.at).changes === 1)
      return { key: row.key, answer: row.answer, at: row.at };
    const there = get(row.key);
    if (there === undefined) throw damagedError(`the answer ${row.key} was not stored`);
    return there;
  };
}
