/**
 * The operations of the HTTP API that belong to audits: checkpoints, proofs, bundles, reports,
 * incidents, backtests and mined rules.
 */

export { backtests } from './backtests.ts';
export { bundles } from './bundles.ts';
export { checkpoints, proofs } from './checkpoints.ts';
export { IncidentRunner } from './incident-runner.ts';
export { incidents } from './incidents.ts';
export { checkpointInFile, checkpointInStore } from './last-checkpoint.ts';
export { Checkpoints, witnessesOf } from './log-checkpoints.ts';
export { mining } from './mining.ts';
export { OneAtATime } from './one-at-a-time.ts';
export { reports } from './reports.ts';
export type { AuditService, BundleVerifiers } from './service.ts';
