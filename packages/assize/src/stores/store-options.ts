import type { PostgresOptions } from './postgres-options.ts';
import type { SqliteOptions } from './sqlite/options.ts';

/**
 * The options of `openSqlite` and `openPostgres`. A store ignores the options of the other store.
 * Unknown options are rejected.
 */
export interface StoreOptions
  extends Omit<SqliteOptions, 'path' | 'archive'>,
    Omit<PostgresOptions, 'url' | 'archive'> {
  /**
   * The place of the store's archive: `file:FOLDER`, or `s3:BUCKET/PREFIX`. Default for a file: the
   * folder `<file>.archive`, if there is one. A place in the database is never used.
   */
  readonly archive?: string | undefined;
  /**
   * The file with the store's last checkpoint. A store behind the checkpoint or apart from it is
   * not opened. Default for a file: `<file>.checkpoint`, if that file exists. `false` opens the
   * store without the check, for inspection.
   */
  readonly checkpoint?: string | false;
}
