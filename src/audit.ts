/**
 * assize/audit: for auditors and operators. Verifies ledgers, replays them, exports and imports
 * them, and proves the contents of a checkpoint.
 *
 * Guarantees: every function reads stored bytes and trusts no cache; a fault names the entry and
 * the rule.
 * Never: executes an effect, changes an entry.
 */
export {
  checkRow,
  type Entry,
  type EntryRow,
  exportLines,
  importLines,
  integrateLog,
  LedgerFault,
  readRow,
  splitLines,
  type VerifyReport,
  verifyTrajectory,
} from '#ledger';
export {
  type AuditReport,
  auditCheckpoints,
  type BacktestOptions,
  type BacktestReport,
  backtest,
  backtestStore,
  type CheckpointOptions,
  type CheckpointSink,
  checkMemory,
  type DeepReplayOptions,
  type DeepReplayReport,
  type DeepReplayStoreOptions,
  deepReplay,
  deepReplayStore,
  type FsckOptions,
  type FsckReport,
  fileSink,
  fsck,
  httpWitness,
  listWrits,
  type MadeCheckpoint,
  makeCheckpoint,
  proveEntry,
  readCheckpoint,
  rebuildMemory,
  streamSink,
  type VerifyOptions,
  verifyStore,
  type Witness,
} from '#runtime';
