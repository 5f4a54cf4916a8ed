import { AssizeError } from '#base';

export type MemoryErrorCode =
  /** The value is not an instant or an allowed open end. Write `2026-03-23T09:00:00.000000Z`. */
  | 'no_instant'
  /** The period ends at its start. Pass an end after the start. */
  | 'empty_period'
  /** The period ends before its start. Exchange start and end. */
  | 'reversed_period'
  /** The name is none of Allen's thirteen relations. Use one that `ALLEN_RELATIONS` lists. */
  | 'unknown_relation'
  /**
   * A subject, predicate or other name is not a string, is empty, or cannot be stored. Pass text in
   * composed form (NFC).
   */
  | 'bad_text'
  /**
   * The metadata of a statement is not valid. Pass 1 to 16 short members whose values are texts,
   * numbers or booleans.
   */
  | 'bad_metadata'
  /** A confidence is not a number from 0 to 1. Pass a number in that range. */
  | 'bad_confidence'
  /**
   * A row has an unknown column, lacks one, or has a value of another type. Correct the column that
   * the message names.
   */
  | 'bad_row'
  /** The row kind is unknown. Use `current` or `audit`. */
  | 'unknown_row_kind'
  /** Two rows share `fact_id` and `system_time_start`. Give each version its own start. */
  | 'duplicate_key'
  /**
   * The domain declares no such predicate in its memory. Declare the predicate, or correct its
   * name.
   */
  | 'unknown_predicate'
  /** The strategy is unknown. Use one of `lww`, `lww-valid`, `evi`, `await` and `rule`. */
  | 'unknown_strategy'
  /**
   * The assertion names another strategy than its predicate declares. Leave the strategy out, or
   * use the declared one.
   */
  | 'strategy_not_allowed'
  /**
   * Only a single-valued predicate can change from a date on. Use `assert` for a multi-valued
   * predicate.
   */
  | 'not_single_valued'
  /**
   * Open rows of a single-valued predicate overlap. Retract one of them in a trajectory with a
   * domain that declares the predicate multi-valued.
   */
  | 'overlaps_open'
  /** One batch has the same claim twice. Remove one of them. */
  | 'repeated_claim'
  /**
   * The answer elects a claim that is not in its conflict set. Choose one of the candidates of the
   * question.
   */
  | 'unknown_member'
  /** The question of the answer has changed or is out of date. Read the pending questions again. */
  | 'stale_answer'
  /**
   * The answer came after the question was decided or expired. Assert the fact again to ask again.
   */
  | 'stale_callback'
  /**
   * The assertions and their contradictions do not fit into one entry. Assert fewer facts, or
   * shorter periods, at a time.
   */
  | 'too_much_at_once'
  /**
   * The branch inherits more facts of one partition than its first change may hold. Make the change
   * in the source trajectory.
   */
  | 'too_much_inherited'
  /** The judge did not vote in time. Propose again to ask the judge again. */
  | 'judge_late'
  /**
   * The pending proposal states a fact of a source that was withdrawn since. Reject it, and state
   * its other facts again.
   */
  | 'source_withdrawn'
  /** One question has two answers. Pass one answer for each question. */
  | 'repeated_answer'
  /** The row to close is missing or already closed. Read the partition again, and plan again. */
  | 'not_open'
  /**
   * The object of an audit row is not a witness. Restore the row from a backup, or rebuild memory
   * from the ledger.
   */
  | 'bad_witness'
  /** The memory has no such version of a fact. Check the fact id with a recall. */
  | 'unknown_fact'
  /**
   * The limit of a recall is below 1 or above the maximum. Give a limit in the range that the
   * message names.
   */
  | 'bad_limit'
  /**
   * The recall combines options that exclude each other, or has an unknown one. Follow the message.
   */
  | 'bad_recall'
  /** The search text has no words. Pass at least one word. */
  | 'empty_text'
  /** The search text has more than 10,000 characters. Search for fewer words. */
  | 'long_text'
  /**
   * The recall needs vectors, and the runtime has no embedder. Open the runtime with the option
   * `memory.embedder`.
   */
  | 'no_embedder'
  /**
   * The embedder returned vectors of a wrong number or dimension, or not finite, or all zero.
   * Correct the embedder.
   */
  | 'bad_vector';

/** Misuse of memory, or rows that break its rules. Nothing was done. */
export class MemoryError extends AssizeError<MemoryErrorCode> {
  override readonly name = 'MemoryError';
}
