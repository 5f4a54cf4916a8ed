import type { DatabaseSync } from 'node:sqlite';
import type { StoredRow } from '../../entry-seals.ts';
import { prepareEntryRows } from '../connection/row.ts';

/** The last entry of one trajectory. */
export function prepareHead(db: DatabaseSync): (trajectoryId: string) => StoredRow | undefined {
  const rows = prepareEntryRows(db, 'WHERE t.name = ? ORDER BY e.seq DESC LIMIT 1');
  return (trajectoryId) => rows(trajectoryId)[0];
}
