/**
 * The kernel: domains, footprints, slices, compile, adjudicate, counselor (seed 000; DESIGN §6).
 *
 * Guarantees: `adjudicate` and `counsel` are synchronous and total functions of world, intent and inputs; a state
 * that breaks an invariant is never kept without a counselor's override; on every refusal the world is as before;
 * cost follows the change and not the world. Never: I/O, a clock, chance, a ledger. May import canon and authority.
 */

export { BUILT_IN_ROLE } from './domain/built-in-role.ts';
export {
  type ActionSpec,
  type Binding,
  type Domain,
  defineDomain,
  type Rule,
  requireOwnDomain,
} from './domain/define-domain.ts';
export type * from './domain/domain-spec.ts';
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
} from './domain/invariant.ts';
export { escalate, type InvariantResult, pass, reject } from './domain/invariant-result.ts';
export type { Part, Partly } from './domain/part-types.ts';
export type { At, Place } from './domain/path-types.ts';
export { faultOfName } from './domain/principal-name.ts';
export { keepsValues, stateFault } from './domain/schema.ts';
export { type Erased, hasErased, isErased, sensitive } from './domain/sensitive.ts';
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
} from './domain/typed-names.ts';
export { KernelError, type KernelErrorCode, PROPOSE_ANEW } from './errors.ts';
export {
  type Approved,
  adjudicate,
  COUNSELOR_PLACEHOLDER,
  type Escalated,
  type Rejected,
  type Ruling,
} from './judge/adjudicate.ts';
export { type Counsel, type CounselorCommit, counsel, type Waiting } from './judge/approve.ts';
export {
  BELIEVE_ACTION,
  type MemorySpec,
  memoryScope,
  type PredicateSpec,
  SAYING_TEXTS,
  SAYINGS_MAX,
  type Saying,
  sayingsOf,
} from './judge/beliefs.ts';
export { type Candidate, candidateOf, type Inputs } from './judge/candidate.ts';
export { ANY_COUNSELOR, APPROVALS_MAX, counselorKind } from './judge/channel.ts';
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
} from './judge/compile.ts';
export { ERASE_ACTION, eraseMemoryScope, eraseScope } from './judge/erase.ts';
export { detailOf, detectionVector, type Finding, firstFinding, type Judged } from './judge/full-check.ts';
export { failureIntent } from './judge/on-failure.ts';
export { adjudicateRevocation, REVOKE_ACTION } from './judge/revoke.ts';
export { type Expected, type Foreseen, foresee, foreseenFrom } from './judge/speculate.ts';
export { initialState, World } from './judge/world.ts';
export type { Change } from './state/changes.ts';
export { type PatchOperation, partedState, patchesOf, plainPatches, sensitiveAbove } from './state/patches.ts';
export { Premise } from './state/read-set.ts';
