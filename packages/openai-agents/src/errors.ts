import { AssizeError } from 'assize/internal/base';

export type OpenAIAgentsErrorCode =
  /**
   * The run has no id, so a repetition of the call could not be known. Pass `runId` in the context,
   * a `groupId` to the runner, or `run` in the options. Evidence `{tool}`.
   */
  | 'no_run'
  /** The call has no id, which would tell a repetition. Pass a tool call. Evidence `{tool}`. */
  | 'no_call'
  /**
   * The state says that the call is approved, and the ledger does not. Restore a state from before
   * the approval, and answer after that. Evidence `{call, approval}`.
   */
  | 'not_approved'
  /**
   * An approval or a rejection of all later calls is none of a call. Let a person record a standing
   * approval, or change the rules. Evidence `{tool}`.
   */
  | 'always_refused'
  /** The vault has no state for the token. Pass a token that `put` has returned. */
  | 'unknown_state'
  /** The state was taken already, and is taken once. Put the state of the newer run. */
  | 'state_taken'
  /** The kept state is not the one that was put. Find out which program has changed the folder. */
  | 'state_changed';

/** A tool call or a run state of the OpenAI Agents SDK that cannot be judged, or cannot go on. */
export class OpenAIAgentsError extends AssizeError<OpenAIAgentsErrorCode> {
  override readonly name = 'OpenAIAgentsError';
}
