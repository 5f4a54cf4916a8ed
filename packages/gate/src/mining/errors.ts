import { AssizeError } from 'assize/internal/base';

export type MiningErrorCode =
  /**
   * A run is not valid: two runs have one id, or a call has no tool. Correct the run that the
   * message names. Evidence `{run}`.
   */
  | 'invalid_run'
  /**
   * The rule cannot be written in that form. The message says why, and which form has a place for
   * it. Evidence `{rule, form}`.
   */
  | 'not_expressible'
  /**
   * No run has that id. Pass ids of runs of the given trajectories: `TRAJECTORY`, or
   * `TRAJECTORY#SESSION` in the gateway. Evidence `{id}`.
   */
  | 'no_such_run';

/** Runs that cannot be mined, or a mined rule that cannot be written. */
export class MiningError extends AssizeError<MiningErrorCode> {
  override readonly name = 'MiningError';
}
