// Where ledgers and oracle logs are kept. Every store passes the suite in src/testing/ledger-store-suite.ts: a commit is
// answered when it is durable, an answered commit is never lost, and of two that want one place exactly one gets it.
// Nothing here judges what a row says, or reads it.
export { StoreError, type StoreErrorCode } from './errors.ts';
export { MemoryStore } from './memory/index.ts';
export { openStore, type Store, type StoreOptions } from './open.ts';
export { type Durability, type OpenMode, openSqlite, type SqliteOptions, SqliteStore } from './sqlite/index.ts';
