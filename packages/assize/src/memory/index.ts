/**
 * Bitemporal facts, and the resolution of contradictions.
 *
 * Guarantees: a plan depends on its arguments alone, and not on the order of a batch. A
 * single-valued predicate has no overlapping open rows. An audit row keeps the complete loser of
 * each contradiction. A read of a partition as of its latest change or earlier always returns the
 * same result.
 *
 * Never: does I/O, reads a clock, draws a random number, or guesses if a human or a policy must
 * decide.
 *
 * Imports canon, and the row types of the ledger. Stores keep the rows, and the runtime executes
 * plans.
 */
export { ALLEN_RELATIONS, type AllenRelation, allenRelation } from './allen.ts';
export { readWitness, type Witness } from './audit.ts';
export { type Author, isOfAssistant, statedProvenance, usersOf } from './author.ts';
export { type Claim, claimId } from './claim.ts';
export { disputedBy, isMark, lostIn, withdrawnBefore } from './displaced.ts';
export { MemoryError, type MemoryErrorCode, type MemoryReason } from './errors.ts';
export {
  checkedFacts,
  checkFact,
  checkFacts,
  contradicts,
  type FactRow,
  type MergeProvenance,
  objectKey,
  type Partition,
  type Provenance,
  type RowKey,
  type RowKind,
  requireText,
  THIS_ENTRY,
  validOf,
} from './fact.ts';
export { type OpenKey, OpenSet } from './open-set.ts';
export {
  type GivenPeriod,
  leftovers,
  OPEN_END,
  OPEN_START,
  overlaps,
  type Period,
  period,
  readPeriod,
  storedPeriod,
} from './period.ts';
export {
  type Assertion,
  checkOpen,
  type Ending,
  type Plan,
  type PlanInput,
  planAssert,
  planChange,
  planCorrect,
  planRetract,
  planWithdraw,
  type QuestionPlan,
  systemTime,
} from './plan.ts';
export {
  type Cardinality,
  declarePredicate,
  type PredicateDeclaration,
  type Remainder,
} from './predicate.ts';
export {
  mergeProvenance,
  Polynomial,
  readTrust,
  type Trust,
  trustProvenance,
  trustToken,
  writeToken,
} from './provenance/index.ts';
export { type Answer, answerOf, type Member, type Question } from './question.ts';
export {
  applyPlan,
  asOf,
  type Difference,
  diff,
  type GivenPoint,
  history,
  type Point,
  type RowSelection,
  selectByRelation,
} from './read.ts';
export {
  Bm25,
  type Collection,
  dayOf,
  documentOf,
  type Embedder,
  everyWordOf,
  forgetWords,
  fuse,
  NEARBY_WEIGHTS,
  type NearbyWeights,
  OCCURRENCES_MAX,
  type Placed,
  type QueryTerm,
  rankNearby,
  rounded,
  wordsOf,
  wordsOfDocument,
} from './retrieval/index.ts';
export { STRATEGIES, type Strategy } from './strategy.ts';
export { lostWrites, restoredIn, type StatedClaim, type StatedClaims } from './withdraw.ts';
