export type { BelievedPlace } from '../records/believed-place.ts';
/**
 * Facts of open trajectories. The pure layer (`#memory`) plans the statements of proposals on the
 * facts of a store, and their commit writes the plan.
 */

export type { Asked, AskedFor, AskedQuestion, GivenAnswer } from '../records/questions.ts';
export {
  type CheckMemoryOptions,
  checkMemory,
  type FactDifference,
  type MemoryReport,
  type UnreadPartition,
} from './maintain/check.ts';
export { type RebuildOptions, type RebuiltMemory, rebuildMemory } from './maintain/rebuild.ts';
export {
  type AssertInput,
  type ChangeInput,
  type CorrectInput,
  type ForgetInput,
  Memory,
  type MemoryActs,
  type MemoryOptions,
  type RetractInput,
  type SayingOptions,
} from './memory.ts';
export { type LosingPartition, losingPartitions } from './plan/close-erased.ts';
export { NotRead } from './plan/partition-cache.ts';
export { Beliefs, type Believed, requireBeliefs, type Sayer } from './plan/plan-beliefs.ts';
export {
  askedFor,
  readQuestions,
  requestsPutUp,
} from './plan/questions.ts';
export type { Judge } from './plan/votes.ts';
export { type DerivedEntry, derivedFrom } from './recall/derived.ts';
export { type Explained, type ExplainingEntry, MemoryView, type Recalled, type RecallQuery } from './recall/recall.ts';
export type { RankedBy, Score } from './recall/search.ts';
export { Lines } from './visible/visibility.ts';
