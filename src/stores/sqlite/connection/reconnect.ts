import type { DatabaseSync } from 'node:sqlite';
import { openDatabase } from './database.ts';
import { fileUrl } from './file.ts';
import { BLOCKING_WAIT_MS } from './retry.ts';

/** By which another thread opens a file once more; it can be copied to that. */
export interface ConnectionTask {
  readonly path: string;
  /** What the connection has to have set, as the one has that the file was opened with. */
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

/** One more connection like this one, to the same file. @throws SQLite's error */
export function connectionTask(db: DatabaseSync, path: string): ConnectionTask {
  const setTo = (name: string): number => Number(Object.values(db.prepare(`PRAGMA ${name}`).get() ?? {})[0]);
  return { path, pragmas: PRAGMAS.map((name) => [name, setTo(name)]) };
}

/** To a file that is there; it makes none. @throws SQLite's error */
export function connectAgain({ path, pragmas }: ConnectionTask): DatabaseSync {
  const db = openDatabase(fileUrl(path, { mode: 'rw' }), { timeout: BLOCKING_WAIT_MS });
  for (const [name, value] of pragmas) db.exec(`PRAGMA ${name} = ${value}`);
  return db;
}
