import { AssizeError } from 'assize/internal/base';

export type ExperimentErrorCode =
  /** The text is not a schedule. Correct the place in the message. Evidence `{text, at}`. */
  | 'bad_schedule'
  /** The anomaly is unknown. Choose one of those that the message lists. Evidence `{anomaly}`. */
  | 'unknown_anomaly'
  /**
   * The order is not an order of the members of the conflict set. Name each member once. Evidence
   * `{order}`.
   */
  | 'bad_order'
  /**
   * The source of chance gave another number of bytes than asked for. Return as many bytes as the
   * call asks. Evidence `{asked, given}`.
   */
  | 'bad_random';

/** Misuse of the schedules that the memory experiments run. */
export class ExperimentError extends AssizeError<ExperimentErrorCode> {
  override readonly name = 'ExperimentError';
}
