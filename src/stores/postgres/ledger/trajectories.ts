import type { TrajectoryInfo } from '#ledger';
import type { Readers } from '../connection/readers.ts';
import type { Statement } from '../connection/session.ts';

/** Every trajectory with its head, in order of creation, which is the order of keys. */
export function prepareTrajectories(readers: Readers, schema: string): () => Promise<TrajectoryInfo[]> {
  // One index lookup per trajectory instead of a scan of all entries: seqs are contiguous from 0.
  const statement: Statement = {
    name: 'assize trajectories',
    text: `SELECT t.name, e.seq + 1, encode(e.id, 'hex') FROM "${schema}".trajectory AS t
      CROSS JOIN LATERAL (
        SELECT seq, id FROM "${schema}".entry WHERE trajectory = t.key ORDER BY seq DESC LIMIT 1
      ) AS e
      ORDER BY t.key`,
  };
  return async () =>
    (await readers.run(statement)).map((row) => {
      const [trajectory_id, entries, head] = row as [string, string, string];
      return { trajectory_id, entries: Number(entries), head };
    });
}
