// A PostgreSQL server for tests: one that is started for the file and removed after it, or the
// server that ASSIZE_TEST_PG names.
export { inFiles, overwriteWal } from './data-files.ts';
export { holdTable, untilOneWaits, untilWait } from './held.ts';
export { type Loss, Relay } from './relay.ts';
export { GUARDED_USER, PostgresServer } from './server.ts';
export { type TestPostgres, type WithPostgresOptions, withPostgres } from './with-postgres.ts';
