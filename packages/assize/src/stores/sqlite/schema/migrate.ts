import type { DatabaseSync } from 'node:sqlite';
import { migrationsIn, versionAfter } from '../../schema-version.ts';
import { schema } from './0001-schema.ts';
import { archive } from './0002-archive.ts';
import { seals } from './0003-seals.ts';

/** `ASZE`, at offset 68 of the file: the mark of an Assize store. */
export const APPLICATION_ID = 0x41535a45;

/** Every migration, in order. A released migration never changes. */
export const MIGRATIONS: readonly string[] = [schema, archive, seals];

/** The schema version that this program reads and writes; `user_version` in the file. */
export const SCHEMA_VERSION: number = versionAfter(MIGRATIONS.length);

/** The identification of a file. */
export interface Mark {
  readonly applicationId: number;
  readonly version: number;
}

/** The file's mark. Throws SQLite's own error if the file is not a database. */
export function readMark(db: DatabaseSync): Mark {
  return {
    applicationId: Number(db.prepare('PRAGMA application_id').get()?.['application_id']),
    version: Number(db.prepare('PRAGMA user_version').get()?.['user_version']),
  };
}

/** Runs the migrations that an empty file or an older store lacks, in one transaction. */
export function migrate(db: DatabaseSync, migrations: readonly string[] = MIGRATIONS): void {
  try {
    db.exec('BEGIN IMMEDIATE');
    // Read inside the transaction: another process may have migrated the file while this one waited
    // for the lock.
    const missing = migrations.slice(migrationsIn(readMark(db).version));
    if (missing.length === 0) return;
    for (const migration of missing) db.exec(migration);
    db.exec(
      `PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${versionAfter(migrations.length)}; COMMIT`,
    );
  } finally {
    if (db.isTransaction) db.exec('ROLLBACK');
  }
}
