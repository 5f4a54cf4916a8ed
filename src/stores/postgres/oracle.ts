import type { OracleRow } from '#oracle';
import type { Readers } from './readers.ts';
import { bytea } from './row.ts';
import type { Statement } from './session.ts';

/** The recorded answer. Answers are put in together with entries (`commit.ts`). */
export function prepareOracleGet(readers: Readers, schema: string): (key: string) => Promise<OracleRow | undefined> {
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
