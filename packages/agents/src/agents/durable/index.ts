/**
 * Durable runs of agents: a record in the side log that a run exists and what it waits for, and
 * workers that advance runs until their end.
 *
 * Guarantees: a run that was recorded is advanced until it ends, while a worker with its agents
 * exists, however often workers are killed. A run that waits needs no process. Two workers on one
 * run make no turn, proposal or declared call twice.
 *
 * Never: decides anything. Which turn, ruling or call counts is in the oracle log and the ledger.
 */
export type { CarrierOptions, DurableAgents, RunGiven, RunStore } from './carrier-options.ts';
export type { DurableRun, RunFailure, RunLease, RunStatus, RunVersion } from './durable-run.ts';
export { RunError, type RunErrorCode } from './errors.ts';
export { RunCarrier } from './run-carrier.ts';
export { RunRecords, type RunsQuery, type RunTerms } from './run-records.ts';
export { RunWorker, type WorkerOptions } from './run-worker.ts';
