/**
 * Calls in the steps of durable engines, made once: Restate, DBOS, Temporal, and others by `once`.
 * Workflows of DBOS and Restate that carry durable runs of agents.
 * No package is imported: a program passes the engine that it has.
 *
 * Guarantees: a call is made at most once for its run and its key, also if the engine repeats its
 * step. A run waits for a person, or for an outcome that is not known, by the engine's own means.
 * The ledger alone decides.
 *
 * Never: an approval by a message of an engine. It only makes the ledger be asked again.
 */

export type { CarryingOptions, RunAdvancer } from './carry-run.ts';
export {
  type DbosOnce,
  type DbosOptions,
  type DbosSdk,
  type DbosStepConfig,
  dbosOnce,
} from './dbos.ts';
export { type DbosRunOptions, dbosRuns } from './dbos-runs.ts';
export type { DoubtfulCall } from './doubtful-call.ts';
export { once } from './once.ts';
export type { BegunOnce, CallArgs, MakeOnce, OnceCall, OnceOptions } from './once-call.ts';
export { type RestateContext, type RestateOnce, type RestateSdk, restateOnce } from './restate.ts';
export { restateRuns } from './restate-runs.ts';
export {
  type ActivityCall,
  type TemporalOnce,
  type TemporalSdk,
  temporalOnce,
} from './temporal.ts';
export type { AskingOptions, WaitingOptions } from './waiting.ts';
