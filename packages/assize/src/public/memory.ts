/**
 * `assize/memory`: bitemporal facts. `Trajectory.memory` returns a `Memory`, and `Assize.memory` a
 * `MemoryView` for reading.
 *
 * Guarantees: an audit row keeps the complete loser of each contradiction. A read as of a past
 * moment always returns the same result.
 */
export {
  type Claim,
  type Embedder,
  type FactRow,
  type GivenPeriod,
  type NearbyWeights,
  type Period,
  Polynomial,
  type Question,
  STRATEGIES,
  type Strategy,
  trustToken,
  writeToken,
} from '#memory';
export {
  type AssertedEach,
  type AssertInput,
  type ChangeInput,
  type CorrectInput,
  type ForgetInput,
  type Judge,
  type KeysQuery,
  Memory,
  type MemoryKey,
  type MemoryKeys,
  type MemoryOptions,
  MemoryView,
  type Recalled,
  type RecallQuery,
  type RetractInput,
  type SearchFallback,
  type SearchMode,
  type SearchWeights,
  type Support,
  type SupportedFact,
  type Withdrawal,
  type WithdrawInput,
} from '#runtime';
