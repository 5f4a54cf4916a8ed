/**
 * The kernel: domains, footprints, slices, compile, adjudicate, counselor (Agentic Redux,
 * docs/decisions/007-incremental-checks.md).
 *
 * Guarantees: `adjudicate` and `counsel` are synchronous and total functions of state, intent and
 * inputs. A state that violates an invariant is stored only with a counselor's override. Every
 * refusal leaves the state unchanged. The cost follows the change and not the size of the state.
 *
 * Never: I/O, a clock, randomness, a ledger. May import canon and authority.
 */

export { BUILT_IN_ROLE } from './domain/built-in-role.ts';
export { type ActionCall, type CallableTool, call, type ProposedCall } from './domain/call.ts';
export type { Change } from './domain/change.ts';
export { ANY_COUNSELOR, APPROVALS_MAX, type Deputy, WAIT_MS_MAX } from './domain/counselors.ts';
export {
  defineDomain,
  requireOwnDomain,
} from './domain/define-domain.ts';
export type { ActionSpec, Binding, Domain, Rule } from './domain/domain.ts';
export type {
  Action,
  ApplyContext,
  CounseledProposal,
  CounselorContext,
  CounselorPredicate,
  DomainSpec,
  FailureIntent,
  Instant,
} from './domain/domain-spec.ts';
export type { DomainWords, ParamsOf } from './domain/domain-words.ts';
export {
  contains,
  overlaps,
  type Pattern,
  parseTemplate,
  patternFromText,
  patternText,
  WHOLE_STATE,
} from './domain/footprint.ts';
export {
  type Approval,
  type CallInvariant,
  type CallOptions,
  type CountInvariant,
  type CountOptions,
  type Counts,
  count,
  type EachInvariant,
  type EachOptions,
  each,
  eachCall,
  type Index,
  type Invariant,
  type InvariantOptions,
  invariant,
  isOverridable,
  type PlainInvariant,
  type PlainOptions,
  type Rules,
  rulesWithoutOverride,
  type SumInvariant,
  type SumOptions,
  sum,
  type UniqueInvariant,
  type UniqueOptions,
  type UniqueValue,
  unique,
} from './domain/invariant.ts';
export { escalate, type InvariantResult, pass, reject } from './domain/invariant-result.ts';
export { BELIEVE_ACTION } from './domain/memory-shape.ts';
export type {
  MemorySpec,
  MemoryStatement,
  PredicateSpec,
  StatementAuthor,
  StatementMetadata,
  StatementPlace,
} from './domain/memory-spec.ts';
export { offersSameActions } from './domain/offers-same-actions.ts';
export type { DeepPartial, StatePart } from './domain/part-types.ts';
export type { ValidPointer, ValueAt } from './domain/path-types.ts';
export {
  namesIn,
  type Presentation,
  type PresentedField,
  type PresentedTools,
  presentation,
} from './domain/presentation.ts';
export { faultOfName } from './domain/principal-name.ts';
export type { Observed, Process, Role, RoleParams } from './domain/role.ts';
export { beginsLike, hasReservedPrefix, isSamePrincipal } from './domain/same-principal.ts';
export { keepsValues, stateFault } from './domain/schema.ts';
export { type Erased, hasErased, isErased, sensitive } from './domain/sensitive.ts';
export type {
  ActionName,
  ArgsOf,
  IntentOf,
  IsUnknown,
  IsUntyped,
  RoleArguments,
  RoleFor,
  RoleName,
  SliceOf,
} from './domain/typed-names.ts';
export { type KnownNames, type UnknownName, unknownNames } from './domain/unknown-names.ts';
export { KernelError, type KernelErrorCode, PROPOSE_AGAIN_HINT } from './errors.ts';
export {
  type Approved,
  adjudicate,
  COUNSELOR_PLACEHOLDER,
  type Escalated,
  type Rejected,
  type Ruling,
  reservedPlaces,
} from './judge/adjudicate.ts';
export {
  type Amendment,
  amendingKind,
  amendPending,
  calledByBody,
  invalidAmendment,
  refusedAmendment,
} from './judge/amend.ts';
export {
  type Approver,
  approvePending,
  type CounselorApproval,
  type CounselorCommit,
  overridesOf,
  type PendingProposal,
  pendingDifference,
  seenOf,
} from './judge/approve.ts';
export {
  adjudicateEffectDecision,
  adjudicateHalt,
  adjudicateRevocation,
  HALT_ACTION,
  RESOLVE_EFFECT_ACTION,
  REVOKE_ACTION,
} from './judge/at-once.ts';
export {
  memoryScope,
  STATEMENT_AUTHOR,
  STATEMENT_METADATA,
  STATEMENT_TEXTS,
  STATEMENTS_MAX,
  statementsOf,
} from './judge/beliefs.ts';
export { callInput, declaredCalls, type OutdatedCalls } from './judge/calls.ts';
export { type Candidate, candidateOf } from './judge/candidate.ts';
export { counselorKind, isCounselorOf, type NamedDeputy } from './judge/channel.ts';
export {
  argumentMisfits,
  compile,
  roleScope,
} from './judge/compile.ts';
export type {
  ApprovalDemand,
  Authority,
  Compiled,
  Cost,
  Intent,
  PolicyRuling,
  Refusal,
} from './judge/compiled.ts';
export { ERASE_ACTION, eraseMemoryScope, eraseScope } from './judge/erase.ts';
export type { Finding, RuleResult } from './judge/finding.ts';
export { detailOf, detectionVector, firstFinding } from './judge/full-check.ts';
export type { InputCall, Inputs } from './judge/inputs.ts';
export { failureIntent } from './judge/on-failure.ts';
export { plannedCalls } from './judge/planned-calls.ts';
export {
  type HeldBy,
  heldBy,
  type Reservation,
  type Waiting,
  waitingNear,
} from './judge/reservations.ts';
export {
  type ApprovedUpgrade,
  adjudicateUpgrade,
  type Migration,
  UPGRADE_ACTION,
  upgradeScope,
} from './judge/upgrade.ts';
export { givenState, initialState, World } from './judge/world.ts';
export {
  marksAt,
  type PatchOperation,
  partedState,
  patchesOf,
  plainPatches,
  sensitiveAbove,
} from './state/patches.ts';
export { ReadSet } from './state/read-set.ts';
