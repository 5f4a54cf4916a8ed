import { SqliteStore, type Store } from '#stores';
import { CliError } from '../errors.ts';

/** The store as a file, for a command that copies files. @throws CliError for another store */
export function requireSqlite(store: Store, command: 'backup' | 'restore'): SqliteStore {
  if (store instanceof SqliteStore) return store;
  throw notSqlite(command);
}

/** The path in the URL of a SQLite store. @throws CliError for another store */
export function requireSqlitePath(storeUrl: string, command: 'backup' | 'restore'): string {
  if (!storeUrl.startsWith('sqlite:')) throw notSqlite(command);
  return storeUrl.slice('sqlite:'.length);
}

function notSqlite(command: 'backup' | 'restore'): CliError {
  const tool = command === 'backup' ? 'pg_dump' : 'pg_restore';
  return new CliError(
    'usage',
    `assize ${command} copies SQLite stores only. For PostgreSQL use ${tool} with a checkpoint, as docs/guide/backups.md describes.`,
  );
}
