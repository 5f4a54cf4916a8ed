/**
 * Checkpoints: the size and root of a store's log, signed, and kept where the store's operator can't change them alone. They
 * show what a chain can't: a tail that was cut off, a history that was written anew.
 */
export { type AuditReport, auditCheckpoints } from './audit.ts';
export {
  type CheckpointOptions,
  type CheckpointSink,
  type MadeCheckpoint,
  makeCheckpoint,
  readCheckpoint,
  requireContinuation,
  type Witness,
} from './checkpoint.ts';
export { type FsckFault, type FsckOptions, type FsckReport, fsck, type NotCompared } from './fsck.ts';
export { type HttpWitnessOptions, httpWitness } from './http-witness.ts';
export { proveEntry } from './prove.ts';
export { fileSink, readCheckpointFile, streamSink } from './sinks.ts';
