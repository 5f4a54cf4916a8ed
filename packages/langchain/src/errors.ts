import { AssizeError } from 'assize/internal/base';

export type LangChainErrorCode =
  /**
   * The run has no thread, so a repetition of the call could not be known. Pass
   * `configurable.thread_id`, or `thread` in the options. Evidence `{tool}`.
   */
  | 'no_thread'
  /** The call has no id, which would tell a repetition. Pass a tool call. Evidence `{tool}`. */
  | 'no_call_id'
  /**
   * The call waits for a person, and the graph cannot pause. Compile it with a checkpointer.
   * Evidence `{call, approval}`.
   */
  | 'cannot_pause'
  /**
   * The tool paused itself after it was begun, and cannot be made again. Let the rules ask instead,
   * or name the tool in `idempotent`. Evidence `{call}`.
   */
  | 'tool_paused';

/** A tool call of LangChain or LangGraph that cannot be judged, or cannot go on. */
export class LangChainError extends AssizeError<LangChainErrorCode> {
  override readonly name = 'LangChainError';
}
