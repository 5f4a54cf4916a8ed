import type { OracleRow } from 'assize/internal/oracle';
import type { Readers } from '../connection/readers.ts';
import { bytea } from '../connection/row.ts';
import type { Statement } from '../connection/session.ts';

/** The recorded answer. Answers are written together with entries (`commit.ts`). */
export function prepareOracleGet(
  readers: Readers,
  schema: string,
): (key: string) => Promise<OracleRow | undefined> {
  const statement: Statement = {
    name: 'assize oracle',
    text: `SELECT answer, at, encode(erased_by, 'hex') FROM "${schema}".oracle WHERE key = $1::bytea`,
  };
  return async (key) => {
    const [row] = await readers.run(statement, [bytea(key)]);
    if (row === undefined) return undefined;
    const [answer, at, eraser] = row as [string, string, string | null];
    return { key, answer, at, ...(eraser !== null && { erased_by: eraser }) };
  };
}

/** The erased answers, by key. */
export function prepareOracleErased(
  readers: Readers,
  schema: string,
): (page: { readonly after?: string; readonly limit: number }) => Promise<OracleRow[]> {
  const statement: Statement = {
    text: `SELECT encode(key, 'hex'), answer, at, encode(erased_by, 'hex') FROM "${schema}".oracle
      WHERE erased_by IS NOT NULL AND key > $1::bytea ORDER BY key LIMIT $2`,
  };
  return async ({ after = '', limit }) => {
    const rows = await readers.run(statement, [bytea(after), limit]);
    return rows.map((row) => {
      const [key, answer, at, erased_by] = row as [string, string, string, string];
      return { key, answer, at, erased_by };
    });
  };
}

/** The answers that were put with a `within` and are not erased, by key. */
export function prepareOracleWithin(
  readers: Readers,
  schema: string,
): (
  within: string,
  page: { readonly after?: string; readonly limit: number },
) => Promise<OracleRow[]> {
  const statement: Statement = {
    name: 'assize oracle within',
    text: `
      SELECT encode(o.key, 'hex'), o.answer, o.at
      FROM "${schema}".oracle_within AS w JOIN "${schema}".oracle AS o ON o.key = w.key
      WHERE w.within = $1::bytea AND w.key > $2::bytea AND o.erased_by IS NULL ORDER BY w.key LIMIT $3`,
  };
  return async (within, { after = '', limit }) => {
    const rows = await readers.run(statement, [bytea(within), bytea(after), limit]);
    return rows.map((row) => {
      const [key, answer, at] = row as [string, string, string];
      return { key, answer, at };
    });
  };
}
