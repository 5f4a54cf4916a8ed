import type { DatabaseSync } from 'node:sqlite';
import { openDatabase } from './database.ts';
import { fileUrl } from './file.ts';
import { BLOCKING_WAIT_MS } from './retry.ts';

/** The data with which another thread opens the same file. It can be cloned to a worker. */
export interface ConnectionTask {
  readonly path: string;
  /**
   * The settings that the new connection needs, copied from the connection that opened the file.
   */
  readonly pragmas: readonly (readonly [name: string, value: number])[];
}

const PRAGMAS = [
  'synchronous',
  'fullfsync',
  'checkpoint_fullfsync',
  'secure_delete',
  'trusted_schema',
  'wal_autocheckpoint',
];

/**
 * The task that describes one more connection like this one, to the same file. @throws SQLite's
 * error
 */
export function connectionTask(db: DatabaseSync, path: string): ConnectionTask {
  const setTo = (name: string): number =>
    Number(Object.values(db.prepare(`PRAGMA ${name}`).get() ?? {})[0]);
  return { path, pragmas: PRAGMAS.map((name) => [name, setTo(name)]) };
}

/** Opens an existing file and never creates one. @throws SQLite's error */
export function reconnect({ path, pragmas }: ConnectionTask): DatabaseSync {
  const db = openDatabase(fileUrl(path, { mode: 'rw' }), { timeout: BLOCKING_WAIT_MS });
  for (const [name, value] of pragmas) db.exec(`PRAGMA ${name} = ${value}`);
  return db;
}
