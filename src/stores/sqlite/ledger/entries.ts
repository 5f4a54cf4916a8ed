import type { DatabaseSync } from 'node:sqlite';
import type { StoredRow } from '../../entry-seals.ts';
import { prepareEntryRows } from '../connection/row.ts';

/** A page of one trajectory, in order of seq. */
export function prepareEntries(db: DatabaseSync): (trajectoryId: string, from: number, limit: number) => StoredRow[] {
  return prepareEntryRows(db, 'WHERE t.name = ? AND e.seq >= ? ORDER BY e.seq LIMIT ?');
}
