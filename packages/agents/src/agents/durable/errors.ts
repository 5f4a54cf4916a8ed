import { AssizeError } from 'assize/internal/base';

export type RunErrorCode =
  /** The store has no run of that trajectory. List the runs with `assize runs list`. */
  | 'unknown_run'
  /**
   * The trajectory has a run of other agents or of another tenant. Name another trajectory, or the
   * recorded agents and tenant. Evidence `{trajectory, agents, tenant}`.
   */
  | 'other_run'
  /**
   * The run has ended, so it can't be cancelled. See its end with `assize runs show`. Evidence
   * `{trajectory, status}`.
   */
  | 'run_ended'
  /**
   * The run has not failed, so it can't be retried. Only a failed run can. Evidence `{trajectory,
   * status}`.
   */
  | 'run_not_failed'
  /**
   * The worker has no agents of that name. Start a worker with the file of these agents. Evidence
   * `{agents}`.
   */
  | 'unknown_agents'
  /**
   * The run has taken all its turns. Look for an agent that never finishes, and give more turns
   * with `assize runs retry`.
   */
  | 'turns_used'
  /**
   * A row of the side log is not a run. Another program wrote it, or a later version of the
   * package. Evidence `{trajectory}`.
   */
  | 'bad_run'
  /** Another process changed the run again and again. Repeat the command. */
  | 'run_conflict';

/** Misuse of durable runs, or a durable run that cannot go on. */
export class RunError extends AssizeError<RunErrorCode> {
  override readonly name: string = 'RunError';
}
