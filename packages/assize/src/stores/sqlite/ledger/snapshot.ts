import type { DatabaseSync } from 'node:sqlite';
import type { SnapshotRow } from '#ledger';

/** The snapshot of one trajectory. */
export function prepareSnapshot(
  db: DatabaseSync,
): (trajectoryId: string) => SnapshotRow | undefined {
  const statement =
    db.prepare(`SELECT t.name AS trajectory_id, s.seq AS seq, lower(hex(s.hash)) AS hash, s.text AS text
    FROM trajectory AS t JOIN snapshot AS s ON s.trajectory = t.key WHERE t.name = ?`);
  return (trajectoryId) => {
    const row = statement.get(trajectoryId) as unknown as SnapshotRow | undefined;
    return row && { ...row };
  };
}

/** Replaces the snapshot inside a transaction, unless a value was erased since. */
export function preparePutSnapshot(db: DatabaseSync): (row: SnapshotRow, erasures: number) => void {
  const statement = db.prepare(`INSERT OR REPLACE INTO snapshot (trajectory, seq, hash, text)
    SELECT key, ?, unhex(?), ? FROM trajectory WHERE name = ? AND (${ERASURES}) = ?`);
  return ({ trajectory_id, seq, hash, text }, erasures) => {
    statement.run(seq, hash, text, trajectory_id, erasures);
  };
}

/** Deletes all snapshots, inside a transaction. */
export function prepareDropSnapshots(db: DatabaseSync): () => void {
  const statement = db.prepare('DELETE FROM snapshot');
  return () => {
    statement.run();
  };
}

/** The number of erased blobs. */
export function prepareErasures(db: DatabaseSync): () => number {
  const statement = db.prepare(ERASURES);
  return () => statement.get()?.['n'] as number;
}

const ERASURES = 'SELECT count(*) AS n FROM blob WHERE erased_by IS NOT NULL';
