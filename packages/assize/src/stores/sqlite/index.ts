// The embedded store: a ledger and an oracle log in one SQLite file. The store keeps rows and
// answers compare-and-set. It never adjudicates the contents of rows. The folder has one file per
// operation, like postgres/.

export {
  type Durability,
  LOCK_TIMEOUT_MS,
  type OpenMode,
  openSqlite,
  type VectorSearch,
} from './open.ts';
export type { SqliteOptions } from './options.ts';
export { SqliteStore } from './store.ts';
export { TemporaryStore } from './temporary.ts';
