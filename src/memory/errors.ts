import { AssizeError } from '#base';

export type MemoryErrorCode =
  /** Neither an instant nor, where one may stand, the open end of a period. */
  | 'no_instant'
  /** The period holds no instant: it ends where it begins. */
  | 'empty_period'
  /** The period ends before it begins. */
  | 'reversed_period'
  /** None of Allen's thirteen relations. */
  | 'unknown_relation'
  /** A subject, a predicate or the like is no text, is empty, or can't be kept as it is. */
  | 'bad_text'
  /** A confidence is a number from 0 to 1. */
  | 'bad_confidence'
  /** A row has a column that is not known, or lacks one, or what stands in one is of another type. */
  | 'bad_row'
  /** A row is `current` or `audit`. */
  | 'unknown_row_kind'
  /** Two rows have one `fact_id` and one `system_time_start`. */
  | 'duplicate_key'
  /** A row of another space, subject or predicate, or one that is no open current row. */
  | 'wrong_partition'
  /** Nothing is believed under a predicate that the domain does not declare in its memory. */
  | 'unknown_predicate'
  /** None of the operators. */
  | 'unknown_strategy'
  /** A predicate is `single-valued` or `multi-valued`. */
  | 'unknown_cardinality'
  /** What a loser was not contested in is kept (`keep`) or not (`drop`). */
  | 'unknown_remainder'
  /** The assertion is stamped with another strategy than its predicate declares. */
  | 'strategy_not_allowed'
  /** Only of a predicate with one value at a time can be said that it changed. */
  | 'not_single_valued'
  /** Open rows of a predicate with one value at a time overlap. */
  | 'overlaps_open'
  /** The same claim stands twice in one batch. */
  | 'repeated_claim'
  /** An answer elects what is not in its conflict set. */
  | 'unknown_member'
  /** An answer to what is not asked, or not asked any more: what is believed has changed since. */
  | 'stale_answer'
  /** An answer to what nobody waits for any more: it was decided, or has expired. */
  | 'stale_callback'
  /** What is said at once, with all that loses by it, is more than one entry holds. */
  | 'too_much_at_once'
  /** What a branch begins with of one partition is more than one entry holds, which its first change there would have to. */
  | 'too_much_inherited'
  /** A judge has not voted in the time that it has. */
  | 'judge_late'
  /** Two answers to one question. */
  | 'repeated_answer'
  /** The row that is to be closed is not there, or is closed already. */
  | 'not_open'
  /** An audit row whose object is no witness. */
  | 'bad_witness'
  /** No version of a fact of that name is there. */
  | 'unknown_fact'
  /** A recall is asked for less than one fact, or more than it gives at once. */
  | 'bad_limit'
  /** A recall asks for what does not go together, or in a way that there is not. */
  | 'bad_recall'
  /** A text that is looked for has nothing but spaces. */
  | 'empty_text'
  /** A text that is looked for is longer than 10,000 characters. */
  | 'long_text'
  /** A recall by meaning, where the runtime was given nobody who makes vectors. */
  | 'no_embedder'
  /** An embedder gave other vectors than it has to: not as many, of other dimensions, not finite, or all zero. */
  | 'bad_vector';

/** Misuse of memory, or rows that can't be as they are; nothing was done. */
export class MemoryError extends AssizeError<MemoryErrorCode> {
  override readonly name = 'MemoryError';
}
