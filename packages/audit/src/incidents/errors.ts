import { AssizeError } from 'assize/internal/base';

export type IncidentErrorCode =
  /** Nothing derives from the start, so there is nothing to respond to. Name another start. */
  | 'nothing_affected'
  /**
   * The response has more steps than an incident can have. Narrow the start by its period, or
   * follow fewer derivations. Evidence `{steps, most}`.
   */
  | 'too_many_steps'
  /**
   * The trajectory of incidents has another domain, or did not begin without incidents. Name
   * another trajectory. Evidence `{trajectory_id}`.
   */
  | 'no_incident_trajectory'
  /**
   * The plan was refused. Correct the cause that the message names. Evidence `{trajectory_id,
   * entry}`.
   */
  | 'incident_refused'
  /**
   * No step of the plan is needed: the steps were taken before, or the rest can only be repaired by
   * hand. Follow the advice of the remaining items. Evidence `{remains}`, their number.
   */
  | 'no_steps'
  /**
   * The trajectory has no proposal and no incident with the id. List the proposals with their ids.
   * Evidence `{incident}`.
   */
  | 'unknown_incident'
  /**
   * No approved incident has the id, so no step is carried out: its plan waits, or was rejected.
   * Approve its proposal, or propose it again. Evidence `{incident}`, and `{approval}` if it waits.
   */
  | 'no_approved_incident'
  /**
   * The outcome of a step was not recorded. Run the response again: each step that was carried out
   * is recognised. Evidence `{incident, step}`.
   */
  | 'outcome_not_recorded';

/** A response that cannot be planned, opened or carried out. */
export class IncidentError extends AssizeError<IncidentErrorCode> {
  override readonly name = 'IncidentError';
}
