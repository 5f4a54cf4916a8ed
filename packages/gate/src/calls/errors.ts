import { AssizeError } from 'assize/internal/base';
import type { GatewayErrorCode } from '#gateway';

export type CallErrorCode =
  | GatewayErrorCode
  /**
   * The rules or a person refused the call, so it was not made. The message says why. Evidence
   * `{call}`.
   */
  | 'call_refused'
  /**
   * The call waits for a person, and was not made. Ask again with the same id after the decision.
   * Evidence `{call, approval}`.
   */
  | 'call_pending'
  /**
   * The call has started, and its outcome is not known, so it is not made again. Check whether
   * it took effect, and settle it: `assize effects calls settle`, or at a server
   * `assize api calls.settle`. Evidence `{call}`.
   */
  | 'call_in_doubt'
  /**
   * A call with this id has failed before, and is not made again. Make a call with another id.
   * Evidence `{call}`.
   */
  | 'call_failed'
  /**
   * The call has no run, thread or id, so a repetition could not be known. Pass the identity that
   * the message names. Evidence `{tool}`.
   */
  | 'no_identity'
  /**
   * The call waits for a person, and its caller cannot pause. Make the call where it can pause, as
   * the message says. Evidence `{call, approval}`.
   */
  | 'cannot_pause'
  /**
   * The tool paused itself after its start, and cannot be made again. Let the rules ask instead,
   * or name the tool in `idempotent`. Evidence `{call}`.
   */
  | 'tool_paused';

/** A tool call that was not made, or has no result. */
export class CallError extends AssizeError<CallErrorCode> {
  override readonly name = 'CallError';
}
