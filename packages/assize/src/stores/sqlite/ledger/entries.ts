import type { DatabaseSync } from 'node:sqlite';
import type { Hash, TrajectoryInfo } from '#ledger';
import type { StoredRow } from '../../entry-seals.ts';
import { prepareEntryRows } from '../connection/row.ts';
import type { HashIndex } from './hash-index.ts';

/** A page of one trajectory, in order of seq. */
export function prepareEntries(
  db: DatabaseSync,
): (trajectoryId: string, from: number, limit: number) => StoredRow[] {
  return prepareEntryRows(db, 'WHERE t.name = ? AND e.seq >= ? ORDER BY e.seq LIMIT ?');
}

/**
 * At most two entries with ids that start with the prefix. A second entry shows that the prefix is
 * ambiguous.
 */
export function prepareFind(db: DatabaseSync, ids: HashIndex): (prefix: string) => StoredRow[] {
  const rows = prepareEntryRows(db, 'WHERE e.position = ?');
  return (prefix) => ids.findAll(prefix, 2).flatMap((position) => rows(position));
}

/** The last entry of one trajectory. */
export function prepareHead(db: DatabaseSync): (trajectoryId: string) => StoredRow | undefined {
  const rows = prepareEntryRows(db, 'WHERE t.name = ? ORDER BY e.seq DESC LIMIT 1');
  return (trajectoryId) => rows(trajectoryId)[0];
}

/** The entry with that id. */
export function prepareResolve(
  db: DatabaseSync,
  ids: HashIndex,
): (id: Hash) => StoredRow | undefined {
  const rows = prepareEntryRows(db, 'WHERE e.position = ?');
  return (id) => {
    const position = ids.find(id);
    return position === undefined ? undefined : rows(position)[0];
  };
}

/** Every trajectory with its head, in order of creation (the order of keys). */
export function prepareTrajectories(db: DatabaseSync): () => TrajectoryInfo[] {
  // One index lookup per trajectory instead of a scan of all entries: seqs are contiguous from 0.
  const statement = db.prepare(`
    SELECT t.name AS trajectory_id, e.seq + 1 AS entries, lower(hex(e.id)) AS head
    FROM trajectory AS t JOIN entry AS e ON e.trajectory = t.key
      AND e.seq = (SELECT max(seq) FROM entry WHERE trajectory = t.key)
    ORDER BY t.key`);
  return () =>
    statement.all().map((row) => ({
      trajectory_id: row['trajectory_id'] as string,
      entries: row['entries'] as number,
      head: row['head'] as string,
    }));
}
