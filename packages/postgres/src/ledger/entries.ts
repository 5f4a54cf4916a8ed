import type { Hash, TrajectoryInfo } from 'assize/internal/ledger';
import type { StoredRow } from 'assize/internal/stores/entry-seals.ts';
import type { Readers } from '../connection/readers.ts';
import { bytea, entryColumns, entryRow, keyOf } from '../connection/row.ts';
import type { Statement } from '../connection/session.ts';

/** A page of one trajectory, in order of seq. */
export function prepareEntries(
  readers: Readers,
  schema: string,
): (trajectoryId: string, from: number, limit: number) => Promise<StoredRow[]> {
  // The statement looks up the key first and separately. Only then does the primary key return the
  // rows in order, page by page.
  const statement: Statement = {
    name: 'assize entries',
    text: `SELECT ${entryColumns(schema)} FROM "${schema}".entry AS e, (SELECT $1::text AS name) AS t
      WHERE e.trajectory = ${keyOf(schema)} AND e.seq >= $2 ORDER BY e.seq LIMIT $3`,
  };
  return async (...values) => (await readers.run(statement, values)).map(entryRow);
}

/**
 * At most two entries with ids that start with the prefix. A second entry shows that the prefix is
 * ambiguous.
 */
export function prepareFind(
  readers: Readers,
  schema: string,
): (prefix: string) => Promise<StoredRow[]> {
  const statement: Statement = {
    name: 'assize find',
    text: `SELECT ${entryColumns(schema)} FROM "${schema}".entry AS e JOIN "${schema}".trajectory AS t ON t.key = e.trajectory
      WHERE e.id BETWEEN $1::bytea AND $2::bytea ORDER BY e.id LIMIT 2`,
  };
  return async (prefix) => {
    const bounds = [bytea(prefix.padEnd(64, '0')), bytea(prefix.padEnd(64, 'f'))];
    return (await readers.run(statement, bounds)).map(entryRow);
  };
}

/** The last entry of one trajectory. */
export function prepareHead(
  readers: Readers,
  schema: string,
): (trajectoryId: string) => Promise<StoredRow | undefined> {
  const statement: Statement = {
    name: 'assize head',
    text: `SELECT ${entryColumns(schema)} FROM "${schema}".entry AS e, (SELECT $1::text AS name) AS t
      WHERE e.trajectory = ${keyOf(schema)} ORDER BY e.seq DESC LIMIT 1`,
  };
  return async (trajectoryId) => (await readers.run(statement, [trajectoryId])).map(entryRow)[0];
}

/** The entry with that id. */
export function prepareResolve(
  readers: Readers,
  schema: string,
): (id: Hash) => Promise<StoredRow | undefined> {
  const statement: Statement = {
    name: 'assize resolve',
    text: `SELECT ${entryColumns(schema)} FROM "${schema}".entry AS e JOIN "${schema}".trajectory AS t ON t.key = e.trajectory
      WHERE e.id = $1::bytea`,
  };
  return async (id) => (await readers.run(statement, [bytea(id)])).map(entryRow)[0];
}

/** Every trajectory with its head, in order of creation (the order of keys). */
export function prepareTrajectories(
  readers: Readers,
  schema: string,
): () => Promise<TrajectoryInfo[]> {
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

/**
 * The trajectories with more pending entries than entries that resolve one, or with a halt, in
 * order of creation. Only a payload whose text has the name `resolves` is parsed. The marker of an
 * archived payload has letters instead (`archive/marker.ts`).
 */
export function prepareToReview(readers: Readers, schema: string): () => Promise<string[]> {
  const statement: Statement = {
    name: 'assize trajectories to review',
    text: `SELECT t.name FROM "${schema}".trajectory AS t JOIN (
        SELECT trajectory, max(strpos(payload, '"assize.halt"') + (payload LIKE '@%h%')::int) AS halts,
          count(*) FILTER (WHERE kind = 'pending_approval') - count(
            CASE WHEN payload LIKE '@%r' THEN payload WHEN strpos(payload, '"resolves":"') > 0 THEN payload::json ->> 'resolves' END
          ) AS open FROM "${schema}".entry GROUP BY trajectory
      ) AS e ON e.trajectory = t.key WHERE e.open > 0 OR e.halts > 0 ORDER BY t.key`,
  };
  return async () => (await readers.run(statement)).map(([name]) => name as string);
}
