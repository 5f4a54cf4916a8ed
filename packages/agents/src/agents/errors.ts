import { AssizeError } from 'assize/internal/base';

export type AgentErrorCode =
  /**
   * The agents are not valid: the list is empty, two share a name, a name is reserved, or a role is
   * unknown. Correct the list that the message describes.
   */
  | 'bad_agents'
  /**
   * The writ of an agent does not cover its role, so the agent gets no slice. Issue a writ with the
   * scope of the role. Evidence `{agent}`.
   */
  | 'not_granted'
  /**
   * An agent, an arbiter or a counselor function returned a value that is not a decision. Return
   * one of the documented decisions.
   */
  | 'bad_decision'
  /**
   * A decision asked the oracle more questions than one decision may. Ask fewer, or split the work
   * over several decisions.
   */
  | 'too_many_questions'
  /**
   * The oracle of a decision was used after the decision ended. Await every question before the
   * decision returns.
   */
  | 'decision_ended'
  /**
   * An agent decides differently than before the interruption of the run. Run the recorded agents.
   * Evidence `{turn, agent}`.
   */
  | 'nondeterministic_agent'
  /**
   * Another process takes the turns of this run. Run the agents in one process at a time. Evidence
   * `{turn}`.
   */
  | 'concurrent_run'
  /**
   * The oracle log has another entry instead of a turn. Check that the log belongs to this
   * trajectory. Evidence `{turn}`.
   */
  | 'bad_turn'
  /**
   * An option of a run or of its replay is not valid. Correct the option that the message names.
   */
  | 'bad_option'
  /** The entries are signed, and the replay has no signer. Pass the key that signed the entries. */
  | 'signer_needed'
  /**
   * The store has no claim key, so facts cannot be replayed from it. Replay from the store that
   * recorded the run, not from an import.
   */
  | 'no_claim_key'
  /**
   * The domain of a variant cannot continue the trajectory in a simulation: a rule of it rejects
   * the state, or its schema does. Pass a version that accepts the state at that entry. Evidence
   * `{variant}`.
   */
  | 'variant_refused';

/**
 * Misuse of a run of agents, or a run that cannot continue. Errors that an agent throws pass
 * through unchanged.
 */
export class AgentError extends AssizeError<AgentErrorCode> {
  override readonly name: string = 'AgentError';
}
