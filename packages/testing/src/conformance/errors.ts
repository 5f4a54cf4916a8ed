import { AssizeError } from 'assize/internal/base';

export type ConformanceErrorCode =
  /**
   * The driver's process ended before its answer. Correct the fault that its standard error tells.
   * Evidence `{op, end, stderr}`.
   */
  | 'driver_ended'
  /**
   * The driver did not answer in time. Answer each line, or give it more time. Evidence `{op,
   * timeoutMs}`.
   */
  | 'driver_silent';

/** A driver that cannot be judged, or a suite that cannot run. A finding is a result, not this. */
export class ConformanceError extends AssizeError<ConformanceErrorCode> {
  override readonly name = 'ConformanceError';
}
