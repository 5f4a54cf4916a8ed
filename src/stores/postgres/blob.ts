import type { Hash } from '#ledger';
import type { Readers } from './readers.ts';
import { bytea } from './row.ts';
import type { Statement } from './session.ts';

/** The text of a blob, exactly as stored. */
export function prepareBlob(readers: Readers, schema: string): (hash: Hash) => Promise<string | undefined> {
  const statement: Statement = {
    name: 'assize blob',
    text: `SELECT text FROM "${schema}".blob WHERE hash = $1::bytea AND erased_by IS NULL`,
  };
  return async (hash) => (await readers.run(statement, [bytea(hash)]))[0]?.[0] as string | undefined;
}

/** The entry that erased a blob. */
export function prepareErasedBy(readers: Readers, schema: string): (hash: Hash) => Promise<Hash | undefined> {
  const statement: Statement = {
    name: 'assize erased',
    text: `SELECT encode(erased_by, 'hex') FROM "${schema}".blob WHERE hash = $1::bytea AND erased_by IS NOT NULL`,
  };
  return async (hash) => (await readers.run(statement, [bytea(hash)]))[0]?.[0] as Hash | undefined;
}
