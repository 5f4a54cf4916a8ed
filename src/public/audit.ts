/**
 * `assize/audit`: for auditors and operators. Verifies ledgers, replays them, exports and imports
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
  Replayer,
  readRow,
  splitLines,
  type VerifyReport,
  verifyTrajectory,
} from '#ledger';
export {
  type AuditReport,
  auditCheckpoints,
  type BacktestReport,
  type Bundle,
  type BundleFault,
  type BundleOptions,
  type BundleScope,
  type BundleVerdict,
  backtest,
  backtestStore,
  type CheckpointSink,
  checkMemory,
  type DeepReplayReport,
  deepReplay,
  deepReplayStore,
  type FsckReport,
  fileSink,
  fsck,
  httpWitness,
  listWrits,
  makeBundle,
  makeCheckpoint,
  proveEntry,
  readCheckpoint,
  rebuildMemory,
  streamSink,
  type VerifiedEntries,
  type VerifyBundleOptions,
  verifyBundle,
  verifyLogged,
  verifyStore,
  type Witness,
} from '#runtime';
