import type { DatabaseSync } from 'node:sqlite';
import type { EntryRow, Hash } from '#ledger';
import { entryRow, SELECT_ENTRIES } from './row.ts';

/** The entry with that id. */
export function prepareResolve(db: DatabaseSync): (id: Hash) => EntryRow | undefined {
  const statement = db.prepare(`${SELECT_ENTRIES} WHERE e.id = unhex(?)`);
  return (id) => {
    const row = statement.get(id);
    return row && entryRow(row);
  };
}
