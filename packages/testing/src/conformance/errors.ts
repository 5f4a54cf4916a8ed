import { AssizeError } from 'assize/internal/base';

export type ConformanceErrorCode =
  /** The driver's command cannot be started. Check its path. Evidence `{command}`. */
  | 'cannot_start'
  /**
   * The driver's process ended before its answer. Correct the fault that its standard error tells.
   * Evidence `{op, end, stderr}`.
   */
  | 'driver_ended'
  /**
   * The driver did not answer in time. Answer each line, or give it more time. Evidence `{op,
   * timeoutMs}`.
   */
  | 'driver_silent'
  /**
   * An answer does not have the form of the protocol. Correct the driver, as
   * docs/reference/conformance.md says. Evidence `{op, line}`.
   */
  | 'bad_answer'
  /**
   * The driver failed at a step that the suite needs. Correct it, or name the ability in `cannot`.
   * Evidence `{op}`.
   */
  | 'driver_failed'
  /** No scenario has that name. Take one that the message lists. Evidence `{scenario}`. */
  | 'unknown_scenario'
  /** The process of the sink ended. Run the suite again. */
  | 'no_sink';

/** A driver that cannot be judged, or a suite that cannot run. A finding is a result, not this. */
export class ConformanceError extends AssizeError<ConformanceErrorCode> {
  override readonly name = 'ConformanceError';
}
