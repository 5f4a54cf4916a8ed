import { AssizeError } from 'assize/internal/base';

export type IncidentErrorCode =
  /**
   * The plan was refused. Correct the cause that the message names. Evidence `{trajectory_id,
   * entry}`.
   */
  | 'incident_refused'
  /**
   * The outcome of a step was not recorded. Run the response again: each step that was carried out
   * is recognised. Evidence `{incident, step}`.
   */
  | 'outcome_not_recorded';

/** A response that cannot be planned, opened or carried out. */
export class IncidentError extends AssizeError<IncidentErrorCode> {
  override readonly name = 'IncidentError';
}
