/**
 * `assize/stores`: the stores of the package, and the ports that a store of another author
 * implements. Every store must pass the suites of `@assize/testing`.
 *
 * Guarantees: a commit is answered when it is durable, and an answered commit is never lost. Of two
 * commits for one position, exactly one succeeds.
 */
export type {
  EffectStore,
  FactStore,
  LedgerStore,
  LogStore,
  SharedEffectStore,
  SideChange,
  SidePage,
  SideRow,
  SideStore,
  SnapshotStore,
} from '#ledger';
export type { OracleStore } from '#oracle';
export {
  openSqlite,
  type PostgresOptions,
  type SqliteOptions,
  type SqliteStore,
} from '#stores';
