import type { DatabaseSync } from 'node:sqlite';
import type { EntryRow } from '#ledger';
import { entryRow, SELECT_ENTRIES } from './row.ts';

/** The last entry of one trajectory. */
export function prepareHead(db: DatabaseSync): (trajectoryId: string) => EntryRow | undefined {
  const statement = db.prepare(`${SELECT_ENTRIES} WHERE t.name = ? ORDER BY e.seq DESC LIMIT 1`);
  return (trajectoryId) => {
    const row = statement.get(trajectoryId);
    return row && entryRow(row);
  };
}
