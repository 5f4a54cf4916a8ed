/**
 * For whoever writes a store, or tests against one; and for whoever writes a domain: `checkDomain` (docs/guide/domains.md).
 *
 * The suites are what every store of this package passes, and what any other has to pass before a ledger is put into it.
 * In a test file of the store, for vitest:
 *
 *     const own = { name: 'own', open: (place) => openOwn(`./stores/${place}`), remove: () => removeAll('./stores') };
 *     ledgerStoreSuite(own);
 *     oracleStoreSuite(own);
 *     logStoreSuite(own);
 *     snapshotStoreSuite(own);
 *     effectStoreSuite(own);
 *     factStoreSuite(own);
 *     sharedEffectStoreSuite(own); // where several may work on effects at a time
 *
 * docs/guide/own-store.md has the whole of it.
 *
 * What a store can't promise is a declared skip with its reason: it is then reported, and not passed over.
 * `faultyStore` puts faults between a caller and any store; `checkHistory` says whether what callers saw and what the
 * store holds in the end can be the same ledger.
 *
 * Guarantees: the same seed, the same faults; a suite says what a store got wrong and never repairs it.
 * Never: part of a program that runs. It needs `vitest` and `fast-check`, which are optional peer dependencies of the
 * package, and nothing else of the package imports it.
 */
export { checkDomain } from './check-domain/check-domain.ts';
export type { CheckDomainOptions } from './check-domain/options.ts';
export type { Counterexample, DomainProblem, DomainReport, ProblemKind } from './check-domain/report.ts';
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
export { type LogStoreSuite, logStoreSuite } from './log-store-suite.ts';
export { type OracleStoreSuite, oracleStoreSuite } from './oracle-store-suite.ts';
export {
  type SharedEffectStoreSuite,
  sharedEffectStoreSuite,
} from './shared-effect-store-suite.ts';
export { type SnapshotStoreSuite, snapshotStoreSuite } from './snapshot-store-suite.ts';
export { batchOf, blobOf, chainOf, entryAfter, entryAt } from './store-rows.ts';
export type { StoreSuite } from './suite.ts';
export type { EffectLedger, FactLedger, SharedEffectLedger } from './suite-types.ts';
