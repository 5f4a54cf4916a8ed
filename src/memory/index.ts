/**
 * What is believed: bitemporal facts, and what becomes of them when they are contradicted.
 *
 * Guarantees: a plan depends on what it is given and on nothing else, not even on the order of a batch; of a predicate with one value at
 * a time no two open rows overlap; who loses a contradiction stands in an audit row, in full; what was read of a partition as of its latest
 * change or before is read so for ever.
 *
 * Never: does I/O, reads a clock, draws a random number, guesses where a person or a policy has to be asked.
 *
 * Imports canon, and of the ledger what rows have in an entry. Stores keep the rows, the runtime carries plans out.
 */
export { ALLEN_RELATIONS, type AllenRelation, allenRelation } from './allen.ts';
export { readWitness, type Witness } from './audit.ts';
export { type Claim, claimId } from './claim.ts';
export { MemoryError, type MemoryErrorCode } from './errors.ts';
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
  THIS_ENTRY,
} from './fact.ts';
export { type OpenKey, OpenSet } from './open-set.ts';
export { OPEN_END, OPEN_START, type Period, period } from './period.ts';
export {
  type Ask,
  type Assertion,
  checkOpen,
  type Plan,
  planAssert,
  planChange,
  planCorrect,
  planRetract,
  systemTime,
  type Writing,
} from './plan.ts';
export { type Cardinality, declarePredicate, type PredicateDeclaration, type Remainder } from './predicate.ts';
export { mergeProvenance, Polynomial, writeToken } from './provenance/index.ts';
export { type Answer, answerOf, type Member, type Question } from './question.ts';
export {
  applyPlan,
  asOf,
  type Difference,
  diff,
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
  OCCURRENCES_MAX,
  rounded,
  type Sought,
  wordsOf,
  wordsOfDocument,
} from './retrieval/index.ts';
export { STRATEGIES, type Strategy } from './strategy.ts';
