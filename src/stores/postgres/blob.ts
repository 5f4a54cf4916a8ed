import type { Hash } from '#ledger';
import type { Readers } from './readers.ts';
import { bytea } from './row.ts';
import type { Statement } from './session.ts';

/** The text of a blob, exactly as stored. */
export function prepareBlob(readers: Readers, schema: string): (hash: Hash) => Promise<string | undefined> {
  const statement: Statement = {
    name: 'assize blob',
    text: `SELECT text FROM "${schema}".blob WHERE hash = $1::bytea`,
  };
  return async (hash) => (await readers.run(statement, [bytea(hash)]))[0]?.[0] as string | undefined;
}
