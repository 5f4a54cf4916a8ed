/**
 * What is believed, in an open world: sayings of proposals are planned by the pure floor (`#memory`) on what a store has, and written
 * with their commit.
 */
export { type Asked, Beliefs, type Believed, requireBeliefs, type Sayer } from './believe.ts';
export {
  type CheckMemoryOptions,
  checkMemory,
  type FactDifference,
  type MemoryReport,
  type UnreadPartition,
} from './check.ts';
export { type DerivedEntry, derivedFrom } from './derived.ts';
export { type BelievedPlace, BelievedSearch, type Sought } from './find-believed.ts';
export { type LosingPartition, losingPartitions } from './forgotten.ts';
export type { Judge } from './judge.ts';
export { Lines } from './line.ts';
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
export { NotRead } from './partitions.ts';
export {
  type AskedFor,
  type AskedQuestion,
  askedFor,
  type GivenAnswer,
  readQuestions,
  requestsPutUp,
} from './questions.ts';
export type { RankedBy, Score } from './ranked.ts';
export { type RebuildOptions, type RebuiltMemory, rebuildMemory } from './rebuild.ts';
export { type Explained, type ExplainingEntry, MemoryView, type Recalled, type RecallQuery } from './view.ts';
