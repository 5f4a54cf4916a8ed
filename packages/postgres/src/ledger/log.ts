import type { Hash, LogStep } from 'assize/internal/ledger';
import type { StoredRow } from 'assize/internal/stores/entry-seals.ts';
import type { Readers } from '../connection/readers.ts';
import { bytea, entryColumns, entryRow } from '../connection/row.ts';
import type { Session, Statement } from '../connection/session.ts';

/** The number of entries with a position in the log. */
export function prepareLogSize(readers: Readers, schema: string): () => Promise<number> {
  const statement: Statement = {
    name: 'assize log size',
    text: `SELECT coalesce(max(idx) + 1, 0) FROM "${schema}".log`,
  };
  return async () => Number((await readers.run(statement))[0]![0]);
}

/**
 * The entries after the last logged one, in the order in which the store numbered them. That order
 * differs from the order of commits. The function therefore returns only entries before which no
 * later commit can appear.
 */
export function prepareUnlogged(
  readers: Readers,
  schema: string,
): (limit: number) => Promise<StoredRow[]> {
  const horizon: Statement = {
    name: 'assize log horizon',
    text: `SELECT "${schema}".log_horizon()`,
  };
  const statement: Statement = {
    name: 'assize unlogged',
    text: `SELECT ${entryColumns(schema)} FROM "${schema}".entry AS e JOIN "${schema}".trajectory AS t ON t.key = e.trajectory
      WHERE e.position > (SELECT coalesce(max(entry), 0) FROM "${schema}".log) AND e.position <= $2
      ORDER BY e.position LIMIT $1`,
  };
  return async (limit) => {
    const [row] = await readers.run(horizon);
    return (await readers.run(statement, [limit, row![0]])).map(entryRow);
  };
}

/**
 * Gives the leaves the next positions. Returns false without writing if the log has another size.
 */
export function prepareIntegrate(
  schema: string,
): (step: LogStep) => (session: Session) => Promise<boolean> {
  const statement: Statement = {
    name: 'assize integrate',
    text: `SELECT "${schema}".integrate($1, $2, $3, $4, $5, $6)`,
  };
  return ({ size, leaves, nodes }) => {
    const values = [
      size,
      leaves.map(({ id }) => bytea(id)),
      leaves.map(({ hash }) => byteaOf(hash)),
      nodes.map(({ level }) => level),
      nodes.map(({ index }) => index),
      nodes.map(({ hash }) => byteaOf(hash)),
    ];
    return async (session) => (await session.run(statement, values))[0]![0] === 't';
  };
}

/** The hashes of leaves (level 0) or of full subtrees, from an index on. */
export function prepareLogNodes(
  readers: Readers,
  schema: string,
): (level: number, from: number, count: number) => Promise<(Uint8Array | undefined)[]> {
  const leaves: Statement = {
    name: 'assize log leaves',
    text: `SELECT idx, encode(leaf, 'hex') FROM "${schema}".log WHERE idx >= $1 AND idx < $2`,
  };
  const nodes: Statement = {
    name: 'assize log nodes',
    text: `SELECT idx, encode(hash, 'hex') FROM "${schema}".log_node WHERE idx >= $1 AND idx < $2 AND level = $3`,
  };
  return async (level, from, count) => {
    const range = [from, from + count];
    const rows = await (level === 0
      ? readers.run(leaves, range)
      : readers.run(nodes, [...range, level]));
    const found = new Array<Uint8Array | undefined>(count).fill(undefined);
    for (const [index, hash] of rows)
      found[Number(index) - from] = new Uint8Array(Buffer.from(hash as string, 'hex'));
    return found;
  };
}

/** An entry's index in the log. */
export function prepareLogIndex(
  readers: Readers,
  schema: string,
): (id: Hash) => Promise<number | undefined> {
  const statement: Statement = {
    name: 'assize log index',
    text: `SELECT l.idx FROM "${schema}".entry AS e JOIN "${schema}".log AS l ON l.entry = e.position
      WHERE e.id = $1::bytea`,
  };
  return async (id) => {
    const [row] = await readers.run(statement, [bytea(id)]);
    return row && Number(row[0]);
  };
}

/** Entries in the order of the log. */
export function prepareLogged(
  readers: Readers,
  schema: string,
): (from: number, limit: number) => Promise<StoredRow[]> {
  const statement: Statement = {
    name: 'assize logged',
    text: `SELECT ${entryColumns(schema)} FROM "${schema}".log AS l JOIN "${schema}".entry AS e ON e.position = l.entry
      JOIN "${schema}".trajectory AS t ON t.key = e.trajectory
      WHERE l.idx >= $1 ORDER BY l.idx LIMIT $2`,
  };
  return async (from, limit) => (await readers.run(statement, [from, limit])).map(entryRow);
}

function byteaOf(bytes: Uint8Array): string {
  return bytea(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex'));
}
