import { AssizeError } from '#base';

export type AgentErrorCode =
  /** The population can't run: no agents, two of one name, a name that is reserved, a role that there is not. */
  | 'bad_agents'
  /** An agent, arbiter or counsel answered with something that is no decision. */
  | 'bad_decision'
  /** A decision asked more questions than it may. */
  | 'too_many_asks'
  /** An oracle was asked by a decision that has ended. */
  | 'decision_over'
  /** An agent decides otherwise than it did before the run was interrupted; evidence `{turn, agent}`. */
  | 'run_changed'
  /** Somebody else is taking the turns of this run; evidence `{turn}`. */
  | 'run_taken'
  /** The oracle log holds something else than a turn where one should be; evidence `{turn}`. */
  | 'bad_turn'
  /** An option of a run or of its replay that can't be used. */
  | 'bad_option'
  /** The entries are signed; to make them again takes the key that signed them. */
  | 'signer_needed'
  /** Beliefs are replayed from a store that has not the key that their claims were made with. */
  | 'no_claim_key';

/** Misuse of a run, or a run that can't be gone on with. What an agent itself throws passes through unchanged. */
export class AgentError extends AssizeError<AgentErrorCode> {
  override readonly name: string = 'AgentError';
}
