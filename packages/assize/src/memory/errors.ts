import { AssizeError } from '#base';

export type MemoryErrorCode =
  /** The value is not an instant or an allowed open end. Write `2026-03-23T09:00:00.000000Z`. */
  | 'no_instant'
  /** The period ends at its start. Pass an end after the start. */
  | 'empty_period'
  /** The period ends before its start. Exchange start and end. */
  | 'reversed_period'
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
  /** One question has two answers. Pass one answer for each question. */
  | 'repeated_answer'
  /** The row to close is missing or already closed. Read the partition again, and plan again. */
  | 'not_open';

/** Misuse of memory, or rows that break its rules. Nothing was done. */
export class MemoryError extends AssizeError<MemoryErrorCode> {
  override readonly name = 'MemoryError';
}
