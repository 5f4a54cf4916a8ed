/**
 * `assize/memory`: the types of bitemporal facts. `Trajectory.memory` and `Assize.memory` return
 * the objects.
 *
 * Guarantees: an audit row keeps the complete loser of each contradiction. A read as of a past
 * moment always returns the same result.
 */
export type { Claim, Embedder, FactRow, Period, Question, Strategy } from '#memory';
export type {
  AssertInput,
  ChangeInput,
  CorrectInput,
  ForgetInput,
  Judge,
  Memory,
  MemoryOptions,
  MemoryView,
  Recalled,
  RecallQuery,
  RetractInput,
  SearchMode,
} from '#runtime';
