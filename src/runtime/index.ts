/**
 * The runtime: an open world. Wires ledger, authority, kernel and oracle together; one writer a trajectory.
 *
 * Guarantees: a ruling is answered when its entry is durable, and never otherwise; rulings of one trajectory are
 * serial; a refusal is a result, an error means that nothing was recorded (but for `commit_unknown`, which says so).
 * Never: touches a store but by its port, runs an effect during replay.
 * May import canon, ledger, authority, kernel, oracle.
 */
export { Assize, type CloseOptions } from './assize.ts';
export type { AssizeOptions } from './assize-options.ts';
export {
  type BacktestOptions,
  type BacktestReport,
  backtest,
  backtestStore,
  type ChangeKind,
  type NotJudgeable,
  type VerdictDifference,
} from './backtest/index.ts';
export type { BranchOptions, CreateOptions } from './beginnings.ts';
export {
  type AuditReport,
  auditCheckpoints,
  type CheckpointOptions,
  type CheckpointSink,
  type FsckFault,
  type FsckOptions,
  type FsckReport,
  fileSink,
  fsck,
  type HttpWitnessOptions,
  httpWitness,
  type MadeCheckpoint,
  makeCheckpoint,
  type NotCompared,
  proveEntry,
  readCheckpoint,
  readCheckpointFile,
  requireContinuation,
  streamSink,
  type Witness,
} from './checkpoints/index.ts';
export type { AwaitOptions, PendingStatus } from './decisions.ts';
export {
  type Broken,
  type DeepReplayOptions,
  type DeepReplayReport,
  type DeepReplayStoreOptions,
  type Difference,
  type DifferenceKind,
  deepReplay,
  deepReplayStore,
  domainToRun,
  type TakenAsRecorded,
} from './deep-replay/index.ts';
export type { OpenDelegation, Origin } from './delegate.ts';
export type { Conclusion, DelegatedTask, DelegationInput, GrantToSign, SignedGrant } from './delegation-input.ts';
export type { EffectAnswer } from './effects/answers.ts';
export type { TransactionIntent } from './effects/branch.ts';
export type { Frontier } from './effects/effects.ts';
export type { LeftEffect } from './effects/held.ts';
export type { EffectNeeds, EffectsQuery, EffectTransaction, ListedEffect } from './effects/listing.ts';
export { madeElsewhere } from './effects/made-elsewhere.ts';
export type { EffectResolution, ResolvedEffect } from './effects/resolution.ts';
export type { Transaction, Tried } from './effects/transaction.ts';
export type { TransactionOptions } from './effects/transaction-options.ts';
export type { TransactionOutcome } from './effects/transactions.ts';
export type { ErasureInput, ErasureRuling } from './erase.ts';
export { RuntimeError, type RuntimeErrorCode } from './errors.ts';
export {
  checkObservationName,
  type IfUnchanged,
  type ObservationInput,
  type Proposal,
  type ProposalInput,
} from './intent.ts';
export { type ListedWrit, listWrits } from './list-writs.ts';
export {
  type AskedQuestion,
  type AssertInput,
  type ChangeInput,
  type CheckMemoryOptions,
  type CorrectInput,
  checkMemory,
  type DerivedEntry,
  type Explained,
  type ExplainingEntry,
  type FactDifference,
  type ForgetInput,
  type GivenAnswer,
  type Judge,
  Memory,
  type MemoryOptions,
  type MemoryReport,
  MemoryView,
  type RankedBy,
  type RebuildOptions,
  type RebuiltMemory,
  type Recalled,
  type RecallQuery,
  type RetractInput,
  rebuildMemory,
  type SayingOptions,
  type Score,
  type UnreadPartition,
} from './memory/index.ts';
export type { NoticeListeners, PendingNotice, ResolvedNotice } from './notices.ts';
export type { OpenPending, PendingQuery } from './pending.ts';
export { COMPILER_VERSION, digestOf } from './records.ts';
export type { Carried, Revocation, RevocationInput } from './revoke.ts';
export {
  type ApprovalInput,
  type FinalRuling,
  type RejectionInput,
  type Resolution,
  type Ruling,
  rulingOf,
} from './ruling.ts';
export type { SnapshotListener } from './snapshots/snapshots.ts';
export type { SliceListener } from './subscriptions.ts';
export { Trajectory } from './trajectory.ts';
export type { TurnPorts } from './turn-ports.ts';
export { type VerifyOptions, verifyStore } from './verify.ts';
export type { WritChain } from './writs.ts';
