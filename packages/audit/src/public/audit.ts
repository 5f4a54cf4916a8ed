/**
 * `@assize/audit`: for auditors and operators. Verifies ledgers, replays them, exports and imports
 * them, proves the contents of a checkpoint, reports evidence for laws and standards, and plans and
 * carries out the responses to incidents.
 *
 * Guarantees: every function reads stored bytes and trusts no cache; a fault names the entry and
 * the rule.
 * Never: executes an effect, changes an entry.
 */

export {
  checkRow,
  type Entry,
  type EntryRow,
  integrateLog,
  LedgerFault,
  Replayer,
  readRow,
  type VerifyReport,
  verifyTrajectory,
} from 'assize/internal/ledger';
export {
  type AffectedEntry,
  checkMemory,
  type Derivation,
  listWrits,
  rebuildMemory,
  verifyStore,
} from 'assize/internal/runtime';
export {
  type AffectedCall,
  type AffectedFact,
  type AffectedStatements,
  type BlastRadius,
  type BlastRadiusOptions,
  blastRadius,
  DERIVATIONS,
  type FactConsequences,
  type IncidentStart,
} from '#blast';
export {
  type Bundle,
  type BundleFault,
  type BundleOptions,
  type BundleScope,
  type BundleVerdict,
  makeBundle,
  type VerifyBundleOptions,
  verifyBundle,
} from '#bundle';
export {
  type AuditReport,
  auditCheckpoints,
  type CheckpointSink,
  type FsckReport,
  fileSink,
  fsck,
  httpWitness,
  makeCheckpoint,
  proveEntry,
  readCheckpoint,
  streamSink,
  type VerifiedEntries,
  verifyLogged,
  type Witness,
} from '#checkpoints';
export {
  type ComplianceReport,
  FRAMEWORKS,
  type GivenCheckpoint,
  makeReport,
  type ReportOptions,
  reportHtml,
  reportMarkdown,
} from '#compliance';
export { exportLines, importLines, splitLines } from '#export';
export {
  affectedSince,
  type CarriedOut,
  type CarryOut,
  carryOut,
  type HoldersIn,
  IncidentError,
  type IncidentErrorCode,
  type OpenIncident,
  openIncident,
  type PlanOptions,
  type ProposedIncident,
  planResponse,
  type ResponsePlan,
  type WritFor,
} from '#incidents';
export {
  type BacktestReport,
  backtest,
  backtestRules,
  backtestStore,
  type DeepReplayReport,
  deepReplay,
  deepReplayStore,
} from '#replay';
