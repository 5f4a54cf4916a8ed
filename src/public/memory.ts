/**
 * `assize/memory`: bitemporal facts. `Trajectory.memory` returns a `Memory`, and `Assize.memory` a
 * `MemoryView` for reading.
 *
 * Guarantees: an audit row keeps the complete loser of each contradiction. A read as of a past
 * moment always returns the same result.
 */
export type { Claim, Embedder, FactRow, Period, Question, Strategy } from '#memory';
export {
  type AssertedEach,
  type AssertInput,
  type ChangeInput,
  type CorrectInput,
  type ForgetInput,
  type Judge,
  Memory,
  type MemoryOptions,
  MemoryView,
  type Recalled,
  type RecallQuery,
  type RetractInput,
  type SearchMode,
} from '#runtime';
