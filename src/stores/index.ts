// Where ledgers and oracle logs are kept. Every store passes the suite in src/testing/ledger-store-suite.ts: a commit is
// answered when it is durable, an answered commit is never lost, and of two that want one place exactly one gets it.
// Nothing here judges what a row says, or reads it.
export { StoreError, type StoreErrorCode } from './errors.ts';
export type { Followable, News } from './follow.ts';
export { MemoryStore } from './memory/index.ts';
export { checkpointFile, openStore, type Store } from './open.ts';
export type { Durability, OpenMode, Scrubbing, VectorSearch } from './options.ts';
export type { PostgresOptions, PostgresStore } from './postgres/index.ts';
export { openSqlite, type SqliteOptions, SqliteStore } from './sqlite/index.ts';
export type { StoreOptions } from './store-options.ts';
