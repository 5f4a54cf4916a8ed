/**
 * The kernel: domains, footprints, slices, compile, adjudicate, counselor (seed 000; DESIGN §6).
 *
 * Guarantees: `adjudicate` and `counsel` are synchronous and total functions of world, intent and inputs; a state
 * that breaks an invariant is never kept without a counselor's override; on every refusal the world is as before;
 * cost follows the change and not the world. Never: I/O, a clock, chance, a ledger. May import canon and authority.
 */
export {
  type Approved,
  adjudicate,
  COUNSELOR_PLACEHOLDER,
  type Escalated,
  type Rejected,
  type Ruling,
} from './adjudicate.ts';
export {
  BELIEVE_ACTION,
  type MemorySpec,
  memoryScope,
  type PredicateSpec,
  SAYING_TEXTS,
  SAYINGS_MAX,
  type Saying,
  sayingsOf,
} from './beliefs.ts';
export { BUILT_IN_ROLE } from './built-in.ts';
export { type Candidate, candidateOf, type Inputs } from './candidate.ts';
export type { Change } from './changes.ts';
export { ANY_COUNSELOR, APPROVALS_MAX, counselorKind } from './channel.ts';
export {
  type Authority,
  type Compiled,
  type Cost,
  compile,
  type HeldBack,
  type Intent,
  type PolicyRuling,
  type Refusal,
  roleScope,
} from './compile.ts';
export { type Counsel, type CounselorCommit, counsel, type Waiting } from './counselor.ts';
export {
  type ActionSpec,
  type Binding,
  type Domain,
  defineDomain,
  type Rule,
  requireOwnDomain,
} from './define-domain.ts';
export type * from './domain.ts';
export { ERASE_ACTION, eraseMemoryScope, eraseScope } from './erase.ts';
export { KernelError, type KernelErrorCode, PROPOSE_ANEW } from './errors.ts';
export { detailOf, detectionVector, type Finding, firstFinding, type Judged } from './evaluate.ts';
export {
  contains,
  overlaps,
  type Pattern,
  parseTemplate,
  patternFromText,
  patternText,
  WHOLE_STATE,
} from './footprint.ts';
export {
  type Approval,
  type CountInvariant,
  type CountOptions,
  type Counts,
  count,
  type EachInvariant,
  type EachOptions,
  each,
  type Index,
  type Invariant,
  type InvariantOptions,
  invariant,
  type PlainInvariant,
  type PlainOptions,
  type Rules,
  type SumInvariant,
  type SumOptions,
  sum,
  type UniqueInvariant,
  type UniqueOptions,
  type UniqueValue,
  unique,
} from './invariant.ts';
export { failureIntent } from './on-failure.ts';
export type { Part, Partly } from './part-types.ts';
export { type PatchOperation, partedState, patchesOf, plainPatches, sensitiveAbove } from './patches.ts';
export type { At, Place } from './path-types.ts';
export { Premise } from './premise.ts';
export { faultOfName } from './principal-name.ts';
export { escalate, type InvariantResult, pass, reject } from './result.ts';
export { adjudicateRevocation, REVOKE_ACTION } from './revoke.ts';
export { keepsValues, stateFault } from './schema.ts';
export { type Erased, hasErased, isErased, sensitive } from './sensitive.ts';
export type {
  ActionName,
  ArgsOf,
  DomainWords,
  IsUntyped,
  ParamsOf,
  RoleArguments,
  RoleFor,
  RoleName,
  SliceOf,
} from './words.ts';
export { initialState, World } from './world.ts';
