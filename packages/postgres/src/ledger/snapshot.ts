import type { SnapshotRow } from 'assize/internal/ledger';
import type { Readers } from '../connection/readers.ts';
import { bytea, keyOf } from '../connection/row.ts';
import type { Session, Statement } from '../connection/session.ts';

/** The snapshot of one trajectory. */
export function prepareSnapshot(
  readers: Readers,
  schema: string,
): (trajectoryId: string) => Promise<SnapshotRow | undefined> {
  const statement: Statement = {
    name: 'assize snapshot',
    text: `SELECT seq, encode(hash, 'hex'), text FROM "${schema}".snapshot WHERE trajectory = ${keyOf(schema)}`,
  };
  return async (trajectory_id) => {
    const [row] = await readers.run(statement, [trajectory_id]);
    if (row === undefined) return undefined;
    const [seq, hash, text] = row as [string, string, string];
    return { trajectory_id, seq: Number(seq), hash, text };
  };
}

/**
 * Replaces the snapshot of the trajectory with `put_snapshot`, unless a text was erased since the
 * fold.
 */
export function preparePutSnapshot(
  schema: string,
): (row: SnapshotRow, erasures: number) => (session: Session) => Promise<void> {
  const statement: Statement = {
    name: 'assize put snapshot',
    text: `SELECT "${schema}".put_snapshot(${keyOf(schema)}, $2, $3, $4, $5)`,
  };
  return ({ trajectory_id, seq, hash, text }, erasures) =>
    async (session) => {
      await session.run(statement, [trajectory_id, seq, bytea(hash), text, erasures]);
    };
}

/**
 * Deletes all snapshots with the files of their table, in which a replaced snapshot would stay
 * until the next vacuum.
 */
export function prepareDropSnapshots(schema: string): (session: Session) => Promise<void> {
  const statement: Statement = {
    name: 'assize drop snapshots',
    text: `TRUNCATE "${schema}".snapshot`,
  };
  return async (session) => {
    await session.run(statement);
  };
}

/** The number of erased blobs. */
export function prepareErasures(readers: Readers, schema: string): () => Promise<number> {
  const statement: Statement = { name: 'assize erasures', text: erasuresOf(schema) };
  return async () => Number((await readers.run(statement, []))[0]?.[0]);
}

function erasuresOf(schema: string): string {
  return `SELECT count(*) FROM "${schema}".blob WHERE erased_by IS NOT NULL`;
}
