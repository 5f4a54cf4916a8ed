import { CliError } from '@assize/command';
import { SqliteStore, type Store } from 'assize/internal/stores';

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

/**
 * Refuses a URL as the name of a file, before its password becomes part of a path.
 *
 * @throws CliError
 */
export function requireFilePath(file: string, command: 'backup' | 'restore'): void {
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(file)) return;
  throw new CliError(
    'usage',
    `assize ${command} takes the path of a file, not a URL. Pass a path such as ./copy.db.`,
  );
}
