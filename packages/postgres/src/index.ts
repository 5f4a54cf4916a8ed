// The store for many processes and machines: a ledger, its Merkle log and an oracle log in one
// schema of a PostgreSQL database. The store keeps rows and answers compare-and-set. It never
// adjudicates the contents of rows, and never shows a password. The folder has one file per
// operation, like sqlite/. The driver is the package `pg`.
export type { Followable, StoreEvent } from 'assize/internal/stores/follow.ts';
export type { Durability, OpenMode, Scrubbing } from 'assize/internal/stores/options.ts';
export type { PostgresOptions } from 'assize/internal/stores/postgres-options.ts';
export { DEFAULT_SCHEMA } from './connection/connection-url.ts';
export {
  CONNECT_ATTEMPTS,
  CONNECT_TIMEOUT_MS,
  LOCK_TIMEOUT_MS,
  openPostgres,
  READERS,
  STATEMENT_TIMEOUT_MS,
} from './open.ts';
export { PostgresStore } from './store.ts';
