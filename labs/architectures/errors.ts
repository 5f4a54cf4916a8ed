import { AssizeError } from 'assize/internal/base';

export type ArchitectureErrorCode =
  /**
   * A starting state does not fit the domain, or a rule does not pass on it. Pass a state on which
   * every rule passes. Evidence `{state}`: its place in the list, or `initial`.
   */
  | 'bad_start'
  /**
   * No agent proposes anything on the starting states. Pass other states, or agents that propose
   * something there.
   */
  | 'no_proposals'
  /**
   * An agent threw an error, or decided something that is not a proposal. Correct the function
   * `decide` of that agent. Evidence `{agent}`.
   */
  | 'agent_failed'
  /**
   * A part of an architecture threw an error, or returned a value of another form. Correct the
   * adjudicator or the discipline that the message names. Evidence `{architecture}`.
   */
  | 'architecture_failed';

/** A comparison that cannot be made, or a part of it that failed. */
export class ArchitectureError extends AssizeError<ArchitectureErrorCode> {
  override readonly name = 'ArchitectureError';
}
