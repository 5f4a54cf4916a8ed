/**
 * The ledger: entry types, chain rules, fold, replay, branch (seed 001; DESIGN §5).
 *
 * Guarantees: an id commits to its entry's place and to all before it; replay finds every change that leaves the
 * chain inconsistent and names the entry and why; a fold calls no domain code; a source is never changed by its
 * branches. A chain alone does not notice a lost tail, nor a suffix that was written anew with fresh ids.
 * Never: I/O of its own (the store is a port), a clock, a domain. May import canon.
 */
export { type Ahead, PAGE, pageAt, type RowRange } from './ahead.ts';
export { APPROVALS_MAX, approvalsOf, isSamePrincipal } from './approvals.ts';
export { beliefChange, factWrites, inheritanceOf, type PlannedChange, type PlannedFact } from './beliefs.ts';
export { blobOf, INLINE_MAX, isBlobRef, isErased, store, storeSalted } from './blob.ts';
export { Chain, type ChainState } from './chain.ts';
export {
  type EffectKeyRow,
  type EffectPage,
  type EffectRecordRow,
  type EffectRefusal,
  type EffectStore,
  type EffectTransactionRow,
  type EffectWrite,
  type Happening,
  isEffectStore,
  type LoggedTransaction,
  type Membership,
  type OpenEffectPage,
  type Said,
  type SharedEffectStore,
  type Tenure,
} from './effect-log.ts';
export type * from './entry.ts';
export { checkRow, type EntrySigner, entryRow, readRow } from './entry-text.ts';
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
} from './erasure.ts';
export { type Fault, type FaultCode, LedgerFault } from './errors.ts';
export {
  EXPORT_FORMAT,
  ExportError,
  type ExportErrorCode,
  type ExportedEntry,
  type ExportOptions,
  exportLines,
  type ImportOptions,
  type ImportReport,
  importLines,
  readExport,
  splitLines,
  wasImported,
} from './export/index.ts';
export type * from './facts.ts';
export { isFactStore, OPEN_END, OPEN_START } from './facts.ts';
export { applyPatches, type Folded, fresh, share } from './fold.ts';
export { type BranchesPartition, inheritanceFaults } from './inherited.ts';
export { isHash } from './is-hash.ts';
export {
  askNodes,
  type IntegrateOptions,
  integrateLog,
  type LogHead,
  logHead,
  type Standing,
  standingFault,
  standingOf,
} from './log/index.ts';
export type { OpenFollower } from './open-pendings.ts';
export type { Patch } from './patch.ts';
export { placedProvenance } from './placed-provenance.ts';
export { saltedBy } from './references.ts';
export {
  type LedgerReader,
  type Replayed,
  Replayer,
  type ReplayOptions,
  type StartFor,
  type VerifyReport,
  verifyTrajectory,
} from './replay.ts';
export {
  isRevocation,
  REVOKE_ACTION,
  type RevocationArgs,
  type RevocationPayload,
  revocationArgs,
  revokedBy,
} from './revocation.ts';
export { type Run, runsOf } from './run.ts';
export {
  type AbandonedArgs,
  type AbandonedEffect,
  abandonedArgs,
  type DecidedAs,
  type EffectPendingPayload,
  effectWaitingIn,
  isAbandonment,
  isCauseCode,
  isEffectPending,
  isOfEffects,
  isSettlement,
  OPERATOR,
  outcomeOf,
  SETTLE_ACTION,
  type SettledAs,
  type SettledCommit,
  type SettledEffect,
  type SettlementArgs,
  type SettlementPayload,
  settlementArgs,
  type UndoingCosts,
  undoingCostsOf,
  type WaitingEffect,
  waitingEffectOf,
} from './settlement.ts';
export { isPayload, payloadFault } from './shape.ts';
export type {
  Batch,
  BlobRow,
  CommitResult,
  ErasedAnswer,
  ErasedRow,
  LedgerStore,
  LogNode,
  LogStep,
  LogStore,
  SnapshotRow,
  SnapshotStore,
  TrajectoryInfo,
} from './store.ts';
export { type Held, Values } from './values.ts';
