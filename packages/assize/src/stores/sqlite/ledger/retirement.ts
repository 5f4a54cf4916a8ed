import type { DatabaseSync } from 'node:sqlite';
import { type Retirement, retiredError } from '../../retirement.ts';
import { damagedError } from '../errors.ts';

/** Records the retirement, inside a transaction. The first one stays. */
export function prepareRetire(db: DatabaseSync): (retirement: Retirement) => void {
  const statement = db.prepare('INSERT OR IGNORE INTO retired (one, at, reason) VALUES (1, ?, ?)');
  const select = db.prepare('SELECT 1 FROM retired');
  return ({ at, reason }) => {
    statement.run(at, reason);
    if (select.get() === undefined) throw damagedError('the retirement was not recorded');
  };
}

/** Throws `store_retired` if the store is retired. `path` names the store. */
export function prepareRefuseRetired(db: DatabaseSync, path: string): () => void {
  const statement = db.prepare('SELECT at, reason FROM retired');
  return () => {
    const retirement = statement.get() as unknown as Retirement | undefined;
    if (retirement !== undefined) throw retiredError(path, retirement);
  };
}
