import type { DatabaseSync } from 'node:sqlite';
import { StoreError } from '../../errors.ts';
import type { Durability } from '../../options.ts';
import { migrate, readMark, SCHEMA_VERSION } from '../schema/migrate.ts';
import { openDatabase } from './database.ts';
import { BLOCKING_WAIT_MS } from './retry.ts';

/** The settings of every connection. */
export const SETTINGS =
  'PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA secure_delete = ON; PRAGMA cache_size = -16384';

/**
 * The result of `settle` for a connection. The function closes the connection if `settle` throws.
 */
export function using<T>(
  url: URL,
  options: { readonly readOnly: boolean; readonly allowExtension: boolean },
  settle: (db: DatabaseSync) => T,
): T {
  const db = openDatabase(url, { ...options, timeout: BLOCKING_WAIT_MS });
  try {
    return settle(db);
  } catch (error) {
    db.close();
    throw error;
  }
}

/**
 * Migrates the file to this version's schema, and copies WAL pages that a crash left into the file.
 * @throws SQLite's error, StoreError
 */
export function prepareToWrite(db: DatabaseSync, path: string, durability: Durability): void {
  // fullfsync: on macOS a plain fsync leaves the data in the drive's cache. On other systems it
  // changes nothing.
  const full = durability === 'full' ? 'ON' : 'OFF';
  db.exec(
    `PRAGMA synchronous = ${durability.toUpperCase()}; PRAGMA fullfsync = ${full}; PRAGMA checkpoint_fullfsync = ${full}`,
  );
  const journal = db.prepare('PRAGMA journal_mode = WAL').get()?.['journal_mode'];
  if (journal !== 'wal') {
    throw new StoreError(
      'store_failed',
      `${path} is on a file system without WAL. Move it to a local disk.`,
      {
        evidence: { path, journal },
      },
    );
  }
  // The store runs its own checkpoints after it has answered, and observes their failures.
  db.exec('PRAGMA wal_autocheckpoint = 0');
  if (readMark(db).version < SCHEMA_VERSION) migrate(db);
  // Fails now instead of at the first commit if the file is read-only or locked. BEGIN IMMEDIATE
  // alone would only read a read-only file.
  db.exec(`BEGIN IMMEDIATE; PRAGMA user_version = ${SCHEMA_VERSION}; ROLLBACK`);
  // After a failed fsync the WAL can hold pages that are only in memory. Copying and syncing them
  // into the file makes an entry that `resolve` finds durable.
  db.exec('PRAGMA wal_checkpoint(PASSIVE)');
}
