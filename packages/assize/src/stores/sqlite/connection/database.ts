import type { DatabaseSync, DatabaseSyncOptions } from 'node:sqlite';

/** The pages of one step of a copy: all, because a write between two steps restarts the copy. */
const ALL_PAGES = 2 ** 31 - 1;

/**
 * Copies a database into a new file, as of one moment, in a thread. Other connections go on reading
 * and writing. The copy has no WAL, so readers of the copy leave no file next to it.
 *
 * @throws SQLite's error
 */
export async function copyDatabase(from: DatabaseSync, path: string): Promise<void> {
  await process.getBuiltinModule('node:sqlite').backup(from, path, { rate: ALL_PAGES });
  const copy = openDatabase(path);
  try {
    copy.exec('PRAGMA journal_mode = DELETE');
  } finally {
    copy.close();
  }
}

/**
 * Opens an empty file beside the store that processes only lock. Its journal is in memory, because
 * a lock must not need space on the disk.
 *
 * @throws SQLite's error
 */
export function openLockFile(store: URL, suffix: string): DatabaseSync {
  const url = new URL(store);
  url.pathname += suffix;
  const db = openDatabase(url, { timeout: 0 });
  try {
    // A locked database in memory refuses the statement, and needs no space on the disk.
    if (!url.searchParams.has('vfs')) db.exec('PRAGMA journal_mode = MEMORY');
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

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
