import type { DatabaseSync } from 'node:sqlite';
import type { Hash } from '#ledger';

/** The text of a blob, exactly as stored. */
export function prepareBlob(db: DatabaseSync): (hash: Hash) => string | undefined {
  const statement = db.prepare('SELECT text FROM blob WHERE hash = unhex(?) AND erased_by IS NULL');
  return (hash) => statement.get(hash)?.['text'] as string | undefined;
}

/** The entry that erased a blob. */
export function prepareErasedBy(db: DatabaseSync): (hash: Hash) => Hash | undefined {
  const statement = db.prepare(
    'SELECT lower(hex(erased_by)) AS eraser FROM blob WHERE hash = unhex(?) AND erased_by IS NOT NULL',
  );
  return (hash) => statement.get(hash)?.['eraser'] as Hash | undefined;
}
