import type { DatabaseSync } from 'node:sqlite';
import type { EntryRow } from '#ledger';
import { prepareEntryRows } from './row.ts';

/** At most two entries whose id begins with the prefix: the second tells that the prefix is not enough. */
export function prepareFind(db: DatabaseSync): (prefix: string) => EntryRow[] {
  const rows = prepareEntryRows(db, 'WHERE e.id BETWEEN unhex(?) AND unhex(?) ORDER BY e.id LIMIT 2');
  return (prefix) => rows(prefix.padEnd(64, '0'), prefix.padEnd(64, 'f'));
}
