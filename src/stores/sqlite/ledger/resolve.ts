import type { DatabaseSync } from 'node:sqlite';
import type { Hash } from '#ledger';
import type { StoredRow } from '../../entry-seals.ts';
import { prepareEntryRows } from '../connection/row.ts';
import type { HashIndex } from './hash-index.ts';

/** The entry with that id. */
export function prepareResolve(db: DatabaseSync, ids: HashIndex): (id: Hash) => StoredRow | undefined {
  const rows = prepareEntryRows(db, 'WHERE e.position = ?');
  return (id) => {
    const position = ids.find(id);
    return position === undefined ? undefined : rows(position)[0];
  };
}
