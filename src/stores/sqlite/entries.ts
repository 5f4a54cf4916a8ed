import type { DatabaseSync } from 'node:sqlite';
import type { EntryRow } from '#ledger';
import { entryRow, SELECT_ENTRIES } from './row.ts';

/** A page of one trajectory, in order of seq. */
export function prepareEntries(db: DatabaseSync): (trajectoryId: string, from: number, limit: number) => EntryRow[] {
  const statement = db.prepare(`${SELECT_ENTRIES} WHERE t.name = ? AND e.seq >= ? ORDER BY e.seq LIMIT ?`);
  return (trajectoryId, from, limit) => statement.all(trajectoryId, from, limit).map(entryRow);
}
