/**
 * The runtime: open trajectories. Wires ledger, authority, kernel and oracle together, with one
 * writer per trajectory.
 *
 * Guarantees: a ruling is returned only once its entry is durable. Rulings of one trajectory are
 * serial. A refusal is a result. An error means that nothing was recorded, except `commit_unknown`:
 * there the outcome is unknown. Never accesses a store except through its port, and never runs an
 * effect during replay.
 */

export { Approvals, type ListedPending, type PendingStatus } from './approve/approvals.ts';
export type { Deciders } from './approve/deciders.ts';
export type { OpenPending, PendingQuery } from './approve/list-pending.ts';
export { Assize, type Background, type CloseOptions } from './assize.ts';
export type { WritChain } from './authority/writs.ts';
export type { BranchOptions, CreateOptions } from './create.ts';
export { Delegations, type OpenDelegation, type Origin } from './delegate/delegate.ts';
export type { HaltInput, HaltOutcome } from './delegate/halt.ts';
export { type Revocation, type RevocationInput, TrajectoryWrits } from './delegate/revoke.ts';
export type { Propagated } from './delegate/stops.ts';
export type {
  Conclusion,
  DelegatedTask,
  DelegationInput,
  GrantToSign,
  SignedGrant,
} from './delegate/terms.ts';
export { findDomain } from './domain-registry.ts';
export type { KeyChange, KeyChangeOptions } from './entry-keys.ts';
export { RuntimeError, type RuntimeErrorCode } from './errors.ts';
export { isForeignEntry } from './inspect/effects/foreign-effects.ts';
export type {
  EffectNeeds,
  EffectsQuery,
  EffectTransaction,
  ListedEffect,
} from './inspect/effects/list.ts';
export {
  type RecordedCallStore,
  type RecordedToolCall,
  recordedToolCalls,
} from './inspect/effects/recorded-tool-calls.ts';
export { type ListedWrit, listWrits } from './inspect/list-writs.ts';
export { type VerifyOptions, verifyStore } from './inspect/verify.ts';
export type { DependentEntry } from './lineage/dependents.ts';
export type { Derivation } from './lineage/entry-links.ts';
export type { AffectedEntry } from './lineage/lineage-walk.ts';
export { type HeldWrit, WritHolders } from './lineage/writ-holders.ts';
export {
  type AskedQuestion,
  type AssertedEach,
  type AssertInput,
  type ChangeInput,
  type CheckMemoryOptions,
  type CorrectInput,
  checkMemory,
  type Explained,
  type ExplainingEntry,
  type FactDifference,
  type FactSource,
  type ForgetInput,
  type GivenAnswer,
  type Judge,
  type KeysQuery,
  Memory,
  type MemoryKey,
  type MemoryKeys,
  type MemoryOptions,
  type MemoryReport,
  MemoryView,
  RECALL_MAX,
  type RebuildOptions,
  type RebuiltMemory,
  type Recalled,
  type RecallQuery,
  type RetractInput,
  rebuildMemory,
  type Score,
  type SearchFallback,
  type SearchMode,
  type SearchWeights,
  type StatementOptions,
  type Support,
  type SupportedFact,
  type UnverifiedPartition,
  type Withdrawal,
  type WithdrawInput,
  withdrawnSourceOf,
} from './memory/index.ts';
export type {
  ApprovalOptions,
  AssizeOptions,
  EffectOptions,
  MemoryRuntimeOptions,
  RuntimePorts,
} from './options.ts';
export type { ForeseenProposal } from './propose/gather.ts';
export { COMPILER_VERSION, digestOf } from './records/entry-payloads.ts';
export type { ErasureInput, ErasurePreview, ErasureRuling } from './records/erasure-input.ts';
export {
  checkObservationName,
  type ObservationInput,
  type PreconditionInput,
  type Proposal,
  type ProposalInput,
} from './records/intent.ts';
export type { JudgedChange, Judgement } from './records/judgement.ts';
export type { EffectOutcome, EffectsStatus, RuledProposal } from './records/ruling.ts';
export {
  type ApprovalInput,
  type FinalRuling,
  type RejectionInput,
  type Resolution,
  type Ruling,
  rulingFrom,
  rulingOf,
} from './records/ruling.ts';
export { Trajectory } from './trajectory.ts';
export type { TransactionIntent } from './transactions/body/branch.ts';
export type { BranchResult, Transaction } from './transactions/body/transaction.ts';
export type { TransactionOptions } from './transactions/body/transaction-options.ts';
export { requestOf, wholeRuling } from './transactions/commit/await-outcome.ts';
export type { TransactionOutcome } from './transactions/commit/transaction-outcome.ts';
export type { UnresolvedEffect } from './transactions/engine/engine.ts';
export type { Frontier } from './transactions/engine/engines.ts';
export type { EffectResolution, ResolvedEffect } from './transactions/engine/human-decision.ts';
export type {
  ClosedProposal,
  Upgrade,
  UpgradeOptions,
  UpgradeOverride,
} from './upgrade/upgrade-input.ts';
export type { AwaitOptions } from './writer/await-options.ts';
export type {
  ApprovalListeners,
  PendingNotification,
  ResolvedNotification,
} from './writer/listeners/notifications.ts';
export type { SliceListener } from './writer/listeners/subscriptions.ts';
export type { SnapshotListener } from './writer/snapshots/snapshots.ts';
export type { TurnPorts } from './writer/turn-ports.ts';
