import type { DatabaseSync } from 'node:sqlite';
import type { Hash, LogStep } from '#ledger';
import type { StoredRow } from '../../entry-seals.ts';
import { StoreError } from '../../errors.ts';
import { prepareEntryRows } from '../connection/row.ts';
import { requireRows } from '../connection/statements.ts';
import type { HashIndex } from './hash-index.ts';

/** The number of entries with a position in the log. */
export function prepareLogSize(db: DatabaseSync): () => number {
  const statement = db.prepare('SELECT coalesce(max(idx) + 1, 0) AS size FROM log');
  return () => statement.get()?.['size'] as number;
}

/** The entries after the last logged one, in the order of their commits. */
export function prepareUnlogged(db: DatabaseSync): (limit: number) => StoredRow[] {
  // The last logged entry has the highest position: both orders are the order of commits.
  return prepareEntryRows(
    db,
    `WHERE e.position > (SELECT coalesce(max(entry), 0) FROM log) ORDER BY e.position LIMIT ?`,
  );
}

/**
 * Gives the leaves the next positions, inside a transaction. Returns false without writing if the
 * log has another size.
 */
export function prepareIntegrate(
  db: DatabaseSync,
  ids: HashIndex,
  logSize: () => number,
): (step: LogStep) => boolean {
  const leaf = db.prepare('INSERT INTO log (idx, entry, leaf) VALUES (?, ?, ?)');
  const node = db.prepare('INSERT INTO log_node (level, idx, hash) VALUES (?, ?, ?)');
  return ({ size, leaves, nodes }) => {
    if (logSize() !== size) return false;
    const positions = leaves.map(({ id }) => ids.findWritten(id));
    if (positions.includes(undefined))
      throw new StoreError(
        'store_corrupt',
        'An entry of the log is missing in the store. Check the store with assize verify --database.',
        {},
      );
    leaves.forEach(({ hash }, i) => void requireRows(leaf.run(size + i, positions[i]!, hash), 1));
    for (const { level, index, hash } of nodes) requireRows(node.run(level, index, hash), 1);
    return true;
  };
}

/** The hashes of leaves (level 0) or of full subtrees, from an index on. */
export function prepareLogNodes(
  db: DatabaseSync,
): (level: number, from: number, count: number) => (Uint8Array | undefined)[] {
  const leaves = db.prepare('SELECT idx, leaf AS hash FROM log WHERE idx >= ? AND idx < ?');
  const nodes = db.prepare(
    'SELECT idx, hash FROM log_node WHERE level = ? AND idx >= ? AND idx < ?',
  );
  return (level, from, count) => {
    const found = new Array<Uint8Array | undefined>(count).fill(undefined);
    const rows =
      level === 0 ? leaves.all(from, from + count) : nodes.all(level, from, from + count);
    for (const row of rows) found[(row['idx'] as number) - from] = row['hash'] as Uint8Array;
    return found;
  };
}

/** An entry's index in the log. */
export function prepareLogIndex(
  db: DatabaseSync,
  ids: HashIndex,
): (id: Hash) => number | undefined {
  const statement = db.prepare('SELECT idx FROM log WHERE entry = ?');
  return (id) => {
    const position = ids.find(id);
    return position === undefined
      ? undefined
      : (statement.get(position)?.['idx'] as number | undefined);
  };
}

/** Entries in the order of the log. */
export function prepareLogged(db: DatabaseSync): (from: number, limit: number) => StoredRow[] {
  return prepareEntryRows(
    db,
    'JOIN log AS l ON l.entry = e.position WHERE l.idx >= ? ORDER BY l.idx LIMIT ?',
  );
}
