/**
 * The oracle log: the one record of what does not follow from the state. Model outputs, tool outputs, judges, clocks,
 * random numbers and arbitration are asked through it, and a replay finds the same answers there.
 *
 * Guarantees: an answer is in the store before anyone acts on it; one question has one answer, for all askers and for
 * ever, or none any more once an entry has erased it; a replay calls nothing and writes nothing, and names the question that it can't answer.
 *
 * Never: holds a transaction open over a call, repairs an answer, or retries.
 *
 * Imports canon only. This folder is also where clocks and chance enter the package, as ports.
 */
export { type Attempt, attemptsOf, recordedUnder } from './attempts.ts';
export { type Clock, fixedClock, systemClock } from './clock.ts';
export { OracleError, type OracleErrorCode } from './errors.ts';
export { type Asking, createOracle, type Oracle, type OracleAnswer, type OracleOptions } from './oracle.ts';
export { type Pause, systemPause } from './pause.ts';
export {
  type CallScope,
  type MemoryScope,
  ORACLE_LIMITS,
  type OracleScope,
  oracleKey,
  type Question,
  type Theta,
  thetaHash,
  withinOf,
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
export { COORDINATOR, nameOfTurn, turnKey, turnNamedBy, turnQuestion } from './turns.ts';
export { unfenced } from './unfenced.ts';
