import type { DatabaseSync } from 'node:sqlite';
import type { TrajectoryInfo } from '#ledger';

/** Every trajectory with its head, in order of creation, which is the order of keys. */
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
