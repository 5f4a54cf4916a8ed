import type { DatabaseSync } from 'node:sqlite';
import type { SnapshotRow } from '#ledger';

/** The snapshot of one trajectory. */
export function prepareSnapshot(db: DatabaseSync): (trajectoryId: string) => SnapshotRow | undefined {
  const statement = db.prepare(`SELECT t.name AS trajectory_id, s.seq AS seq, lower(hex(s.hash)) AS hash, s.text AS text
    FROM trajectory AS t JOIN snapshot AS s ON s.trajectory = t.key WHERE t.name = ?`);
  return (trajectoryId) => {
    const row = statement.get(trajectoryId) as unknown as SnapshotRow | undefined;
    return row && { ...row };
  };
}

/** Inside a transaction: in place of the one before. */
export function preparePutSnapshot(db: DatabaseSync): (row: SnapshotRow) => () => void {
  const statement = db.prepare(
    'INSERT OR REPLACE INTO snapshot (trajectory, seq, hash, text) SELECT key, ?, unhex(?), ? FROM trajectory WHERE name = ?',
  );
  return ({ trajectory_id, seq, hash, text }) =>
    () =>
      leavingNothing(db, () => statement.run(seq, hash, text, trajectory_id));
}

/** Inside a transaction: deletes all. */
export function prepareDropSnapshots(db: DatabaseSync): () => void {
  const statement = db.prepare('DELETE FROM snapshot');
  return () => leavingNothing(db, () => statement.run());
}

/** What is deleted or replaced is overwritten with zeros, as it may hold what has to be gone from the file. */
function leavingNothing(db: DatabaseSync, step: () => unknown): void {
  db.exec('PRAGMA secure_delete = ON');
  try {
    step();
  } finally {
    db.exec('PRAGMA secure_delete = OFF');
  }
}
