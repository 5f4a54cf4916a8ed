import { AssizeError } from 'assize/internal/base';

export type IsolationErrorCode =
  /**
   * The value is not an isolation level. Use one of the levels that the message names. Evidence
   * `{problem}`.
   */
  | 'bad_level'
  /**
   * No isolation level excludes an anomaly of that name. Use one of the names that the message
   * lists. Evidence `{anomaly}`.
   */
  | 'unknown_anomaly';

/** Misuse of the lattice of isolation levels. */
export class IsolationError extends AssizeError<IsolationErrorCode> {
  override readonly name = 'IsolationError';
}
