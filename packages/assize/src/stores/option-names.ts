import { arg } from '#base';
import type { PostgresOptions } from './postgres-options.ts';
import type { SqliteOptions } from './sqlite/options.ts';
import type { StoreOptions } from './store-options.ts';

// The names of the options. The code that uses an option checks its value.

const OF_BOTH = {
  mode: arg.any,
  durability: arg.any,
  lockTimeoutMs: arg.any,
  archive: arg.any,
  rootKeys: arg.any,
};

/** The options of `openStore` for a SQLite store. */
export const OF_SQLITE = { ...OF_BOTH, vectors: arg.any, clock: arg.any };

/** The options of `openStore` for a PostgreSQL store. */
export const OF_POSTGRES = {
  ...OF_BOTH,
  statementTimeoutMs: arg.any,
  connectTimeoutMs: arg.any,
  connectAttempts: arg.any,
  readers: arg.any,
  notify: arg.any,
  scrub: arg.any,
  applicationName: arg.any,
};

export const SQLITE_OPTIONS = arg.options<SqliteOptions>({ ...OF_SQLITE, path: arg.any });
export const POSTGRES_OPTIONS = arg.options<PostgresOptions>({ ...OF_POSTGRES, url: arg.any });
export const STORE_OPTIONS = arg.options<StoreOptions>({
  ...OF_SQLITE,
  ...OF_POSTGRES,
  checkpoint: arg.any,
});
