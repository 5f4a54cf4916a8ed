// Stores of ledgers and oracle logs. Every store passes the suite in
// packages/testing/src/ledger-store-suite.ts. A commit is answered when it is durable, and an
// answered commit is never lost. Of two commits for one position, exactly one succeeds. The stores
// neither read nor adjudicate the contents of rows.
export type { Adoptable, Adoption } from './adoption.ts';
export type { Archivable, ArchiveOptions, ArchiveReport } from './archive/archive-entries.ts';
export { defaultArchive } from './archive/open-place.ts';
export type { ArchiveState } from './archive/port.ts';
export { type Sealable, type SealState, sealKeys } from './entry-seals.ts';
export { StoreError, type StoreErrorCode } from './errors.ts';
export type { Followable, StoreEvent } from './follow.ts';
export type { InPlace } from './in-place.ts';
export { checkpointFile, checkStoreUrl, openStore, type Store } from './open.ts';
export type { Durability, OpenMode, Scrubbing, VectorSearch } from './options.ts';
export type { PostgresOptions } from './postgres-options.ts';
export type { Retirable, Retirement } from './retirement.ts';
export { type SealedRow, SealedRows, sideSecretOf } from './sealed-rows.ts';
export { openSqlite, type SqliteOptions, SqliteStore, TemporaryStore } from './sqlite/index.ts';
export type { StoreOptions } from './store-options.ts';
