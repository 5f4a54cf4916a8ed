/**
 * `assize/testing`: tests for authors of domains and of stores (docs/guide/domains.md,
 * docs/guide/own-store.md). It needs `vitest` and `fast-check`, which are optional peer
 * dependencies of the package.
 *
 * Guarantees: the same seed gives the same faults. A suite reports the errors of a store and never
 * repairs them.
 * Never: part of a production program.
 */
export { detectionVector } from '#kernel';
export {
  batchOf,
  blobOf,
  type CheckDomainOptions,
  chainOf,
  checkDomain,
  checkHistory,
  type DomainReport,
  effectStoreSuite,
  entryAfter,
  factStoreSuite,
  faultAt,
  faultyStore,
  type HistoryReport,
  ledgerStoreSuite,
  logStoreSuite,
  oracleStoreSuite,
  type StoppedBy,
  type StoreSuite,
  seededDelays,
  seededFaults,
  sharedEffectStoreSuite,
  sideStoreSuite,
  snapshotStoreSuite,
} from '#testing';
