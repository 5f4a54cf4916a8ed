import { AssizeError } from 'assize/internal/base';

export type AgentErrorCode =
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
  /** The entries are signed, and the replay has no signer. Pass the key that signed the entries. */
  | 'signer_needed';

/**
 * Misuse of a run of agents, or a run that cannot continue. Errors that an agent throws pass
 * through unchanged.
 */
export class AgentError extends AssizeError<AgentErrorCode> {
  override readonly name: string = 'AgentError';
}
