import type { DatabaseSync } from 'node:sqlite';
import { systemClock } from '#oracle';
import type { EntrySeals } from '../../entry-seals.ts';
import type { SealedPage } from '../../native-port.ts';
import { requireRows } from '../connection/statements.ts';

/** The number of entries in one transaction. */
const PAGE = 1_000;
const MARK = 'INSERT OR IGNORE INTO sealed (one, at) VALUES (1, ?)';

/** Whether every entry has a seal, and must have one. */
export function prepareIsSealed(db: DatabaseSync): () => boolean {
  const statement = db.prepare('SELECT 1 FROM sealed');
  return () => statement.get() !== undefined;
}

/** Marks a store without entries as sealed. It takes the write lock only then. */
export function sealEmpty(db: DatabaseSync): void {
  if (prepareIsSealed(db)() || db.prepare('SELECT 1 FROM entry LIMIT 1').get() !== undefined)
    return;
  db.prepare(
    'INSERT OR IGNORE INTO sealed (one, at) SELECT 1, ? WHERE NOT EXISTS (SELECT 1 FROM entry)',
  ).run(systemClock.now());
}

/** Seals a page of entries, inside a transaction. The last call marks the store as sealed. */
export function prepareSealSome(
  db: DatabaseSync,
): (seals: EntrySeals, after: number) => SealedPage {
  const select = db.prepare(`
    SELECT position, lower(hex(id)) AS id FROM entry WHERE position > ? AND seal IS NULL ORDER BY position LIMIT ${PAGE}`);
  const update = db.prepare('UPDATE entry SET seal = ? WHERE position = ?');
  const mark = db.prepare(MARK);
  return (seals, after) => {
    const rows = select.all(after) as unknown as { position: number; id: string }[];
    for (const { position, id } of rows)
      requireRows(update.run(Buffer.from(seals.of({ id }), 'hex'), position), 1);
    const last = rows.at(-1);
    if (last === undefined) mark.run(systemClock.now());
    return { sealed: rows.length, after: last?.position };
  };
}
