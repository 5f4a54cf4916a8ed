/**
 * The common part of the tau-bench domains: the kernel adjudicates recorded agents and the
 * benchmark's own solutions. One base trajectory holds the database, every run is a branch of it,
 * and every writing call is proposed in order. The agent's reads before a call are the observations
 * of its proposal. Then the whole store is verified, and the records are compared with the results
 * of the benchmark's own tools.
 *
 * Guarantees: a run acts under its own writ, for the user of its agent. Its report is read
 * from the ledger's own state. Not included: the tools and the policy of a benchmark. These belong
 * to its domain.
 */
export {
  type AdjudicateOptions,
  type AdjudicationReport,
  adjudicateRecorded,
} from './adjudicate.ts';
export { type Benchmark, type BenchmarkTools, withoutPolicy } from './benchmark.ts';
export {
  type ExpectedRun,
  expectedRun,
  type RecordedCall,
  type RecordedRun,
  recordedRun,
  recordedTask,
  runKey,
} from './recorded.ts';
export { type ChangedRecords, type Difference, type Records, RecordTexts } from './records.ts';
export type { CallReport, RunReport } from './run.ts';
