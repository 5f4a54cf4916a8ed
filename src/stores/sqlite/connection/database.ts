import type { DatabaseSync, DatabaseSyncOptions } from 'node:sqlite';

/**
 * One more connection of Node's SQLite. The module is looked up at the first call and never imported: an import fails
 * under a Node without it, before `base/node-version.ts` can say which Node is needed.
 *
 * @throws SQLite's error
 */
export function openDatabase(path: string | URL, options: DatabaseSyncOptions = {}): DatabaseSync {
  const { DatabaseSync } = process.getBuiltinModule('node:sqlite');
  return new DatabaseSync(path, options);
}
