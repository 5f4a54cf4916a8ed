import type { DatabaseSync } from 'node:sqlite';
import type { EntryRow, Hash } from '#ledger';
import { prepareEntryRows } from '../connection/row.ts';
import type { HashIndex } from './hash-index.ts';

/** The entry with that id. */
export function prepareResolve(db: DatabaseSync, ids: HashIndex): (id: Hash) => EntryRow | undefined {
  const rows = prepareEntryRows(db, 'WHERE e.position = ?');
  return (id) => {
    const position = ids.find(id);
    return position === undefined ? undefined : rows(position)[0];
  };
}
