import type { DatabaseSync } from 'node:sqlite';
import type { EntryRow } from '#ledger';
import { prepareEntryRows } from '../connection/row.ts';

/** A page of one trajectory, in order of seq. */
export function prepareEntries(db: DatabaseSync): (trajectoryId: string, from: number, limit: number) => EntryRow[] {
  return prepareEntryRows(db, 'WHERE t.name = ? AND e.seq >= ? ORDER BY e.seq LIMIT ?');
}
