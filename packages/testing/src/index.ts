/**
 * Tests for authors of stores and of domains. For domains, see `checkDomain` and
 * `walkLifeCycle` (docs/guide/domain-tests.md).
 *
 * Every store of this package passes the suites. Any other store must pass them before it holds a
 * ledger. In a test file of the store, for vitest:
 *
 *     const own = {
 *       name: 'own',
 *       open: (place) => openOwn(`./stores/${place}`),
 *       remove: () => removeAll('./stores'),
 *     };
 *     ledgerStoreSuite(own);
 *     oracleStoreSuite(own);
 *     logStoreSuite(own);
 *     snapshotStoreSuite(own);
 *     sideStoreSuite(own);
 *     effectStoreSuite(own);
 *     factStoreSuite(own);
 *     sharedEffectStoreSuite(own); // if several processes may share the effects
 *
 * The full example is in docs/reference/own-store.md.
 *
 * If a store cannot pass a test, its author declares a skip with a reason. The report lists the
 * skip. `faultyStore` puts faults between a caller and any store. `checkHistory` checks whether the
 * callers' answers and the store's final content can belong to the same ledger.
 *
 * Guarantees: the same seed gives the same faults. A suite reports the errors of a store and never
 * repairs them. Never: part of a production program. It needs `vitest` and `fast-check`, optional
 * peer dependencies of the package. No other part of the package imports it.
 */
export { checkDomain } from './check-domain/check-domain.ts';
export type { CheckDomainOptions } from './check-domain/options.ts';
export type {
  Counterexample,
  DomainProblem,
  DomainReport,
  ProblemKind,
} from './check-domain/report.ts';
export type { StoppedBy } from './check-domain/stops.ts';
export { type EffectStoreSuite, effectStoreSuite } from './effect-store-suite.ts';
export { type FactStoreSuite, factStoreSuite } from './fact-store-suite.ts';
export {
  type FaultSchedule,
  faultAt,
  type SeededDelays,
  type SeededFaults,
  type StoreCall,
  type StoreFault,
  seededDelays,
  seededFaults,
} from './faults.ts';
export { faultyStore } from './faulty-store.ts';
export {
  type Append,
  checkHistory,
  type HistoryReport,
  type Operation,
  type Read,
  type Violation,
} from './history.ts';
export { type LedgerStoreSuite, ledgerStoreSuite } from './ledger-store-suite.ts';
export {
  domainWithout,
  type ForbiddenStep,
  type LifeCycle,
  type LifeCycleProposal,
  type LifeCycleStep,
  type LifeCycleWalk,
  walkLifeCycle,
} from './life-cycle.ts';
export { type LogStoreSuite, logStoreSuite } from './log-store-suite.ts';
export { type OracleStoreSuite, oracleStoreSuite } from './oracle-store-suite.ts';
export {
  type SharedEffectStoreSuite,
  sharedEffectStoreSuite,
} from './shared-effect-store-suite.ts';
export { type SideStoreSuite, sideStoreSuite } from './side-store-suite.ts';
export { type SnapshotStoreSuite, snapshotStoreSuite } from './snapshot-store-suite.ts';
export { batchOf, blobOf, chainOf, entryAfter, entryAt } from './store-rows.ts';
export type { StoreSuite } from './suite.ts';
export type { EffectLedger, FactLedger, SharedEffectLedger } from './suite-types.ts';
