import type { DatabaseSync } from 'node:sqlite';
import type { EntryRow, Hash } from '#ledger';
import { prepareEntryRows } from './row.ts';

/** The entry with that id. */
export function prepareResolve(db: DatabaseSync): (id: Hash) => EntryRow | undefined {
  const rows = prepareEntryRows(db, 'WHERE e.id = unhex(?)');
  return (id) => rows(id)[0];
}
