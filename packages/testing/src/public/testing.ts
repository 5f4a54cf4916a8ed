/**
 * `@assize/testing`: tests for authors of domains and of stores (docs/guide/domains.md,
 * docs/reference/own-store.md). It needs `vitest` and `fast-check`, optional peer dependencies of
 * the package.
 *
 * Guarantees: the same seed gives the same faults. A suite reports the errors of a store and never
 * repairs them.
 * Never: part of a production program.
 */
export { detectionVector } from 'assize/internal/kernel';
export {
  batchOf,
  blobOf,
  type CheckDomainOptions,
  chainOf,
  checkDomain,
  checkHistory,
  type DomainReport,
  domainWithout,
  effectStoreSuite,
  entryAfter,
  type ForbiddenStep,
  factStoreSuite,
  faultAt,
  faultyStore,
  type HistoryReport,
  type LifeCycle,
  type LifeCycleProposal,
  type LifeCycleStep,
  type LifeCycleWalk,
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
  walkLifeCycle,
} from '../index.ts';
