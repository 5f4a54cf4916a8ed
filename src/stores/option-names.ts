import { form } from '#base';
import type { PostgresOptions } from './postgres/options.ts';
import type { SqliteOptions } from './sqlite/options.ts';
import type { StoreOptions } from './store-options.ts';

// The names of the options. The code that uses an option checks its value.

const OF_BOTH = { mode: form.any, durability: form.any, lockTimeoutMs: form.any };

/** The options of `openStore` for a SQLite store. */
export const OF_SQLITE = { ...OF_BOTH, vectors: form.any };

/** The options of `openStore` for a PostgreSQL store. */
export const OF_POSTGRES = {
  ...OF_BOTH,
  statementTimeoutMs: form.any,
  connectTimeoutMs: form.any,
  connectAttempts: form.any,
  readers: form.any,
  notify: form.any,
  scrub: form.any,
  applicationName: form.any,
};

export const SQLITE_OPTIONS = form.options<SqliteOptions>({ ...OF_SQLITE, path: form.any });
export const POSTGRES_OPTIONS = form.options<PostgresOptions>({ ...OF_POSTGRES, url: form.any });
export const STORE_OPTIONS = form.options<StoreOptions>({ ...OF_SQLITE, ...OF_POSTGRES, checkpoint: form.any });
