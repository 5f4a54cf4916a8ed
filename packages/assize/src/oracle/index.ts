/**
 * The oracle log: the one record of nondeterminism. Calls of models, tools, judges, clocks, random
 * numbers and arbitration go through it. A replay finds the same answers there.
 *
 * Guarantees: an answer is in the store before any caller acts on it. One question has one
 * permanent answer for all callers, or no answer once an entry has erased it. A replay calls
 * nothing and writes nothing, and reports the question that it cannot answer.
 *
 * Never: holds a store transaction open over a call, repairs an answer, or retries.
 *
 * Imports canon only. Clocks and randomness enter the package here, as ports.
 */
export { type Attempt, attemptsOf, recordedUnder } from './attempts.ts';
export { type Clock, fixedClock, systemClock } from './clock.ts';
export { OracleError, type OracleErrorCode } from './errors.ts';
export { onlyObject } from './only-object.ts';
export {
  createOracle,
  type Oracle,
  type OracleAnswer,
  type OracleCall,
  type OracleOptions,
} from './oracle.ts';
export { type Pause, systemPause } from './pause.ts';
export {
  type CallScope,
  listingKeyOf,
  type MemoryScope,
  ORACLE_LIMITS,
  type OracleScope,
  oracleKey,
  type Question,
  type Theta,
  thetaHash,
} from './question.ts';
export { MAX_RANDOM_BYTES, type Random, seededRandom, systemRandom } from './random.ts';
export {
  type Caller,
  type CallSequence,
  callSequence,
  oracleClock,
  oracleRandom,
  type RecordedClock,
  type RecordedRandom,
} from './recorded.ts';
export type { OracleRow, OracleStore } from './store.ts';
export { stripFence } from './strip-fence.ts';
export { COORDINATOR, turnKey, turnNamedBy, turnObservationName, turnQuestion } from './turns.ts';
