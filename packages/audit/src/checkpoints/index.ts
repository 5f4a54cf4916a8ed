/**
 * Checkpoints: the signed size and root of a store's log, kept where the store's operator alone
 * cannot change them. They reveal faults that a chain cannot: a truncated tail, or a rewritten
 * history.
 */
export { type AuditReport, auditCheckpoints } from './audit.ts';
export type { CheckedEffects } from './check-effect-macs.ts';
export {
  type CheckpointOptions,
  type CheckpointSink,
  type LogKeys,
  type MadeCheckpoint,
  makeCheckpoint,
  readCheckpoint,
  requireContinuation,
  type Witness,
} from './checkpoint.ts';
export {
  type FsckFault,
  type FsckOptions,
  type FsckReport,
  fsck,
  type NotCompared,
} from './fsck.ts';
export { type HttpWitnessOptions, httpWitness } from './http-witness.ts';
export { proveEntry } from './prove.ts';
export { fileSink, readCheckpointFile, streamSink } from './sinks.ts';
export { requireLogged, type VerifiedEntries, verifyLogged } from './verify-logged.ts';
