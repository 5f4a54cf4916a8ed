/**
 * The order and the protocol of effects: which work may act on a resource, and the next step of
 * each transaction.
 *
 * Guarantees: conflicting work acts in epoch order, and waits only for lower epochs. The next step
 * of a transaction depends on the effect log alone, so any process with the log can resume it.
 *
 * Never: does I/O, reads a clock, calls a tool.
 */

export { segment } from '#authority';
export {
  badResolver,
  canonicalNames,
  kindOf,
  NAMES_MAX,
  namesGiven,
  type Resolver,
  type ResolverContext,
  type Resolvers,
  type ResolversByKind,
  readResolvers,
  resolversOf,
  uniqueClaims,
} from './aliases.ts';
export {
  type AtomicBatch,
  type BatchedCall,
  type BatchOf,
  batchesOf,
  type StagedCall,
  type StagedReads,
  type StagedTransaction,
} from './atomic-batch.ts';
export type { CallContext, CompensationResult } from './call.ts';
export { ClaimIndex, type Registration } from './claim-index.ts';
export { ClaimSet } from './claim-set.ts';
export { Coordinator, type Stale, type Work } from './coordinator.ts';
export {
  DidNothing,
  EffectError,
  type EffectErrorCode,
  NoAnswer,
  UnreadableAnswer,
  whyOf,
} from './errors.ts';
export { effectKey, isNameClaim, type KeyParts, nameClaim } from './key.ts';
export {
  bodyText,
  claimsOf,
  claimsText,
  claimTexts,
  type EffectPayload,
  type KnownEffect,
  type KnownTransaction,
  type LoggedEffect,
  type LoggedText,
  type LogRecord,
  logDamaged,
  protocolOf,
  readClaims,
  readTransaction,
  readWithCommittedKeys,
  recordsText,
  type TransactionBody,
  textsOf,
} from './log.ts';
export { ownFailure } from './own-failure.ts';
export {
  BEGUN,
  type Decision,
  type Delivery,
  EFFECT_ATTEMPTS,
  EFFECT_ATTEMPTS_MAX,
  type EffectClass,
  type EffectPhase,
  type EffectRecord,
  type EffectState,
  type Failing,
  isPivot,
  isUnresolved,
  type LocalKnowledge,
  mayCostUndoing,
  nextStep,
  type Reversibility,
  recorded,
  retryOf,
  type Sink,
  type Step,
  type TransactionPhase,
  type TransactionState,
  unfinished,
} from './protocol.ts';
export { RowAuthentication } from './row-authentication.ts';
export { type Access, type Claim, conflicts, covers, readClaim, scopesOverlap } from './scopes.ts';
export { SharedWork } from './shared-work.ts';
export {
  declareTool,
  inputMembers,
  type PlannedCalls,
  type ReconcileResult,
  requireOwnTool,
  type Scopes,
  type Tool,
  type ToolSpec,
} from './tool.ts';
