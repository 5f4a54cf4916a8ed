// The embedded store: a ledger and an oracle log in one SQLite file. It keeps rows and answers compare-and-set; it never
// judges what the rows say. The folder has one file an operation, as postgres/ will have.

export {
  type Durability,
  LOCK_TIMEOUT_MS,
  type OpenMode,
  openSqlite,
  type VectorSearch,
} from './open.ts';
export type { SqliteOptions } from './options.ts';
export { SqliteStore } from './store.ts';
