import type { PostgresOptions } from './postgres/options.ts';
import type { SqliteOptions } from './sqlite/options.ts';

/** As for `openSqlite` and `openPostgres`; what a store has no use for it does not look at, and what none has is refused. */
export interface StoreOptions extends Omit<SqliteOptions, 'path'>, Omit<PostgresOptions, 'url'> {
  /**
   * The file that holds the store's last checkpoint: a store that is behind it, or apart from it, is not opened. Default for
   * a file: `<file>.checkpoint`, where there is one. False opens it all the same, to look what is there.
   */
  readonly checkpoint?: string | false;
}
