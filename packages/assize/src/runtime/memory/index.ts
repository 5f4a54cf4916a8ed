export type { BeliefSelector } from '../records/erasure-input.ts';
/**
 * Facts of open trajectories. The pure layer (`#memory`) plans the statements of proposals on the
 * facts of a store, and their commit writes the plan.
 */

export type {
  AskedQuestion,
  GivenAnswer,
  OpenQuestions,
  PendingQuestions,
} from '../records/questions.ts';
export type { AssertedEach } from './assert-each.ts';
export {
  type CheckMemoryOptions,
  checkMemory,
  type FactDifference,
  type MemoryReport,
  type UnverifiedPartition,
} from './maintain/check.ts';
export { type RebuildOptions, type RebuiltMemory, rebuildMemory } from './maintain/rebuild.ts';
export {
  type AssertInput,
  type ChangeInput,
  type CorrectInput,
  type ForgetInput,
  Memory,
  type MemoryOptions,
  type MemoryPorts,
  type RetractInput,
  type StatementOptions,
  type Withdrawal,
  type WithdrawInput,
} from './memory.ts';
export { type ErasedPartition, partitionsToErase } from './plan/close-erased.ts';
export { BeliefPlanner, type PlannedBeliefs, requireFactStore } from './plan/plan-beliefs.ts';
export {
  escalateForAnswers,
  readQuestions,
  submittedRequests,
} from './plan/questions.ts';
export type { StatementContext } from './plan/statement-context.ts';
export type { Judge } from './plan/votes.ts';
export { withdrawnSourceOf } from './plan/withdrawn-sources.ts';
export type { Explained, ExplainingEntry, FactSource } from './recall/explain.ts';
export type { KeysQuery, MemoryKey, MemoryKeys } from './recall/keys.ts';
export { MemoryView, type Recalled } from './recall/recall.ts';
export { RECALL_MAX, type RecallQuery } from './recall/recall-query.ts';
export type { Support, SupportedFact } from './recall/resting-on.ts';
export type { Score, SearchFallback, SearchMode, SearchWeights } from './recall/search.ts';
export { VisibilityChains } from './visible/visibility.ts';
