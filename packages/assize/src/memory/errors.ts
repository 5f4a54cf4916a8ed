import { AssizeError, codeFor, type ErrorDetails, type GeneralCode } from '#base';

export type MemoryErrorCode =
  /**
   * The domain declares no such predicate in its memory. Declare the predicate, or correct its
   * name.
   */
  | 'unknown_predicate'
  /** The question of the answer has changed or is out of date. Read the pending questions again. */
  | 'stale_answer'
  /** The judge did not vote in time. Propose again to ask the judge again. */
  | 'judge_late';

/**
 * The finer reasons, each with its code. The detail of a rejected statement begins with its reason.
 */
const CODES = {
  no_instant: 'bad_argument',
  empty_period: 'bad_argument',
  reversed_period: 'bad_argument',
  bad_text: 'bad_argument',
  bad_metadata: 'bad_argument',
  bad_confidence: 'bad_argument',
  unknown_strategy: 'bad_argument',
  strategy_not_allowed: 'bad_argument',
  not_single_valued: 'bad_argument',
  repeated_claim: 'bad_argument',
  unknown_member: 'bad_argument',
  repeated_answer: 'bad_argument',
  overlaps_open: 'wrong_state',
  stale_callback: 'wrong_state',
  not_open: 'wrong_state',
  too_much_at_once: 'too_large',
  too_much_inherited: 'too_large',
} as const satisfies Readonly<Record<string, GeneralCode>>;

export type MemoryReason = MemoryErrorCode | GeneralCode | keyof typeof CODES;

/** Misuse of memory, or rows that break its rules. Nothing was done. */
export class MemoryError extends AssizeError<MemoryErrorCode> {
  override readonly name = 'MemoryError';

  constructor(reason: MemoryReason, message: string, details?: ErrorDetails) {
    super(codeFor(CODES, reason), message, { ...details, reason });
  }
}
