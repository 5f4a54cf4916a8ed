import type { DatabaseSync } from 'node:sqlite';
import type { Hash } from '#ledger';
import type { HashIndex } from './hash-index.ts';

/** The text of a blob, exactly as stored. */
export function prepareBlob(
  db: DatabaseSync,
  blobs: HashIndex,
): (hash: Hash) => string | undefined {
  const statement = db.prepare('SELECT text FROM blob WHERE position = ? AND erased_by IS NULL');
  return (hash) => {
    const position = blobs.find(hash);
    return position === undefined
      ? undefined
      : (statement.get(position)?.['text'] as string | undefined);
  };
}

/** The entry that erased a blob. */
export function prepareErasedBy(
  db: DatabaseSync,
  blobs: HashIndex,
): (hash: Hash) => Hash | undefined {
  const statement = db.prepare(
    'SELECT lower(hex(erased_by)) AS eraser FROM blob WHERE position = ? AND erased_by IS NOT NULL',
  );
  return (hash) => {
    const position = blobs.find(hash);
    return position === undefined
      ? undefined
      : (statement.get(position)?.['eraser'] as Hash | undefined);
  };
}
