import type { DatabaseSync } from 'node:sqlite';
import type { StoredRow } from '../../entry-seals.ts';
import { prepareEntryRows } from '../connection/row.ts';
import type { HashIndex } from './hash-index.ts';

/**
 * At most two entries with ids that start with the prefix. A second entry shows that the prefix is
 * ambiguous.
 */
export function prepareFind(db: DatabaseSync, ids: HashIndex): (prefix: string) => StoredRow[] {
  const rows = prepareEntryRows(db, 'WHERE e.position = ?');
  return (prefix) => ids.findAll(prefix, 2).flatMap((position) => rows(position));
}
