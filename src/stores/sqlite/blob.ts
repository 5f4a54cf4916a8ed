import type { DatabaseSync } from 'node:sqlite';
import type { Hash } from '#ledger';

/** The text of a blob, exactly as stored. */
export function prepareBlob(db: DatabaseSync): (hash: Hash) => string | undefined {
  const statement = db.prepare('SELECT text FROM blob WHERE hash = unhex(?)');
  return (hash) => statement.get(hash)?.['text'] as string | undefined;
}
