import type { DatabaseSync, DatabaseSyncOptions } from 'node:sqlite';

/**
 * Opens a connection of Node's SQLite.
 *
 * The function loads the module at the first call and never imports it. An import fails under a
 * Node without SQLite before `base/node-version.ts` can report the required Node version.
 *
 * @throws SQLite's error
 */
export function openDatabase(path: string | URL, options: DatabaseSyncOptions = {}): DatabaseSync {
  const { DatabaseSync } = process.getBuiltinModule('node:sqlite');
  return new DatabaseSync(path, options);
}
