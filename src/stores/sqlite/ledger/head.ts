import type { DatabaseSync } from 'node:sqlite';
import type { EntryRow } from '#ledger';
import { prepareEntryRows } from '../connection/row.ts';

/** The last entry of one trajectory. */
export function prepareHead(db: DatabaseSync): (trajectoryId: string) => EntryRow | undefined {
  const rows = prepareEntryRows(db, 'WHERE t.name = ? ORDER BY e.seq DESC LIMIT 1');
  return (trajectoryId) => rows(trajectoryId)[0];
}
