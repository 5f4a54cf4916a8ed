/**
 * What the domains of tau-bench have in common: recorded agents, and the benchmark's own solutions, are brought before
 * the kernel. One base trajectory holds the database, every run is a branch of it, every writing call is proposed in
 * order, and what the agent looked up before a call are the observations of its proposal. Then the whole store is
 * verified, and the records are compared with what the benchmark's own tools left behind.
 *
 * Guarantees: a run acts under a writ of its own, for whom its agent acts; what is reported of it is read off the
 * ledger's own state. Never: the tools or the policy of a benchmark, which are its domain's.
 */
export { type AdjudicateOptions, type AdjudicationReport, adjudicateRecorded } from './adjudicate.ts';
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
