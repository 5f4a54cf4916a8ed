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
  exportLines,
  importLines,
  integrateLog,
  LedgerFault,
  Replayer,
  readRow,
  splitLines,
  type VerifyReport,
  verifyTrajectory,
} from 'assize/internal/ledger';
export {
  type AffectedCall,
  type AffectedEntry,
  type AffectedFact,
  type AffectedStatements,
  type AuditReport,
  auditCheckpoints,
  type BacktestReport,
  type BlastRadius,
  type BlastRadiusOptions,
  type Bundle,
  type BundleFault,
  type BundleOptions,
  type BundleScope,
  type BundleVerdict,
  backtest,
  backtestStore,
  blastRadius,
  type CheckpointSink,
  checkMemory,
  DERIVATIONS,
  type DeepReplayReport,
  type Derivation,
  deepReplay,
  deepReplayStore,
  type FactConsequences,
  type FsckReport,
  fileSink,
  fsck,
  httpWitness,
  type IncidentStart,
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
} from 'assize/internal/runtime';
export {
  type ComplianceReport,
  FRAMEWORKS,
  type GivenCheckpoint,
  makeReport,
  type ReportOptions,
  reportHtml,
  reportMarkdown,
} from '#compliance';
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
