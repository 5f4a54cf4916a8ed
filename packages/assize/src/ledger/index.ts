/**
 * The ledger: entry types, chain rules, fold, replay and branches (docs/reference/ledger.md).
 *
 * Guarantees: an id commits to its entry's position and to all earlier entries. Replay finds every
 * change that makes the chain inconsistent, and names the entry and the reason. A fold calls no
 * domain code. Branches never change their source.
 *
 * A chain alone does not detect a lost tail, or a suffix rewritten with new ids. Never: its own I/O
 * (the store is a port), a clock, a domain. May import canon.
 */

export { APPROVALS_MAX } from './entry/approvals-max.ts';
export { blobOf, INLINE_MAX, isBlobRef, isErased, store, storeSalted } from './entry/blob.ts';
export type { BlobRow, ErasedAnswer, ErasedRow } from './entry/blob-row.ts';
export { difference } from './entry/difference.ts';
export type {
  EffectKeyRow,
  EffectPage,
  EffectRecordRow,
  EffectRefusal,
  EffectTransactionRow,
  EffectWrite,
  LoggedTransaction,
  MembershipEvent,
  OpenEffectPage,
  OrderedEvent,
} from './entry/effect-rows.ts';
export type {
  ActionRecord,
  AmendmentRecord,
  Amounts,
  BranchPayload,
  ChildBeginning,
  CommitPayload,
  CounselorRecord,
  DelegatedFrom,
  DelegationPayload,
  Delta,
  DeputyRecord,
  DomainRef,
  Entry,
  EntryKind,
  EntryRow,
  EntrySignature,
  Instant,
  IntentRecord,
  KeyChangePayload,
  Observation,
  Payload,
  PendingPayload,
  PolicyRecord,
  ProposalRecord,
  RejectionPayload,
  RejectionReason,
  RoleRef,
  RootPayload,
  VectorItem,
} from './entry/entry.ts';
export { checkRow, type EntrySigner, entryRow, readRow, signed } from './entry/entry-text.ts';
export {
  answersErasedBy,
  ERASE_ACTION,
  type ErasedBeliefs,
  type ErasedLogged,
  type ErasedValue,
  type ErasureArgs,
  erasureArgs,
  isErasure,
  loggedErasedBy,
} from './entry/erasure.ts';
export {
  blobLine,
  entryLine,
  erasedLine,
  FORMAT,
  HEADER,
  LINE_BYTES_MAX,
  readLine,
  trailerLine,
} from './entry/export-lines.ts';
export type {
  BeliefChange,
  BeliefRow,
  BranchPartition,
  BranchPartitionQuery,
  ContentRef,
  FactCardinality,
  FactColumns,
  FactHit,
  FactKey,
  FactPlace,
  FactQuery,
  FactText,
  FactTextQuery,
  FactVector,
  FactVectorQuery,
  FactVersion,
  FactWrite,
  Inheritance,
  InheritedRow,
  Outdated,
  PartitionName,
  PartitionRead,
  PartitionState,
  RankedQuery,
  SaltedRef,
} from './entry/fact-rows.ts';
export { OPEN_END, OPEN_START } from './entry/fact-rows.ts';
export type { BlobRef, Erased, Hash, Stored } from './entry/hash.ts';
export { isHash } from './entry/is-hash.ts';
export { observationsOf } from './entry/observations.ts';
export type { Patch } from './entry/patch.ts';
export { placedProvenance } from './entry/placed-provenance.ts';
export {
  erasableHashesOf,
  positionsOf,
  referencesOf,
  writParent,
  writsNamedBy,
} from './entry/references.ts';
export type { VerifiedRun } from './entry/run.ts';
export {
  type AbandonedArgs,
  type AbandonedEffect,
  abandonedArgs,
  type DecidedAs,
  type EffectPendingPayload,
  isAbandonment,
  isCauseCode,
  isEffectEntry,
  isEffectPending,
  isSettlement,
  OPERATOR,
  outcomeOf,
  type PendingEffectArgs,
  pendingEffectIn,
  pendingEffectOf,
  SETTLE_ACTION,
  type SettledAs,
  type SettledCommit,
  type SettledEffect,
  type SettlementArgs,
  type SettlementPayload,
  settlementArgs,
  type UndoingCosts,
  undoingCostsOf,
} from './entry/settlement.ts';
export { isPayload, payloadFault } from './entry/shape.ts';
export {
  domainFrom,
  HALT_ACTION,
  type Halt,
  type HaltArgs,
  type HaltPayload,
  haltArgs,
  isHalt,
  isKeyChange,
  isRevocation,
  isUpgrade,
  keyAfter,
  passesHalt,
  REVOKE_ACTION,
  type RevocationArgs,
  type RevocationPayload,
  revocationArgs,
  revokedBy,
  UPGRADE_ACTION,
  type UpgradeArgs,
  type UpgradePayload,
} from './entry/system-actions.ts';
export { TOKEN_BY, tokenMakersIn } from './entry/token-makers.ts';
export { TRACEPARENT, traceparentIn, traceparentOf } from './entry/traceparent.ts';
export { type Fault, type FaultCode, LedgerFault } from './errors.ts';
export { importMark, isMarked, refersToEffects, wasImported } from './imported.ts';
export {
  askNodes,
  compareWithHead,
  comparisonFault,
  type IntegrateOptions,
  integrateLog,
  type LogComparison,
  type LogHead,
  logHead,
} from './log/index.ts';
export {
  type EffectStore,
  isEffectStore,
  type Lease,
  type Membership,
  type SharedEffectStore,
} from './ports/effect-store.ts';
export type { FactReads, FactStore } from './ports/fact-store.ts';
export { isFactStore } from './ports/fact-store.ts';
export type {
  Batch,
  BatchClock,
  CommitResult,
  LedgerStore,
  LogNode,
  LogStep,
  LogStore,
  SnapshotRow,
  SnapshotStore,
  TrajectoryInfo,
} from './ports/ledger-store.ts';
export { isOwnBatch, ownBatch } from './ports/own-batch.ts';
export { PAGE, type ParallelReader, pageAt, type RowRange } from './ports/parallel-reader.ts';
export {
  SIDE_BODY_BYTES_MAX,
  SIDE_CHANGES_MAX,
  SIDE_NAME_MAX,
  type SideChange,
  type SidePage,
  type SideRow,
  type SideStore,
} from './ports/side-store.ts';
export {
  beliefChange,
  factWrites,
  inheritanceOf,
  type PlannedChange,
  type PlannedFact,
} from './replay/belief-change.ts';
export { applyPatches, type Folded, fresh, share } from './replay/fold.ts';
export { type BranchesPartition, inheritanceFaults } from './replay/inherited-beliefs.ts';
export { formsOf } from './replay/position-forms.ts';
export {
  type LedgerReader,
  type Replayed,
  Replayer,
  type ReplayOptions,
  type StartFor,
  type VerifyReport,
  verifyTrajectory,
} from './replay/replay.ts';
export { runsOf } from './replay/run.ts';
export { type ReadValue, ValueReader } from './replay/values.ts';
export { RULES, type RuleId } from './rule-ids.ts';
export { approvalsOf, isSamePrincipal, principalsOf } from './rules/approvals.ts';
export { Chain, type ChainState, type LastUpgrade } from './rules/chain.ts';
export { EntryKeyRules } from './rules/entry-keys.ts';
export { isExpired, type OpenApprovalListener } from './rules/open-approvals.ts';
