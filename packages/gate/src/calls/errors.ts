import { AssizeError } from 'assize/internal/base';

export type CallErrorCode =
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
   * The call was begun, and its outcome is not known, so it is not made again. Look whether it took
   * effect, and settle it: `assize calls settle`, or at a server `assize api calls.settle`.
   * Evidence `{call}`.
   */
  | 'call_in_doubt'
  /**
   * A call with this id has failed before, and is not made again. Make a call with another id.
   * Evidence `{call}`.
   */
  | 'call_failed'
  /**
   * The rules of the file are not accepted. Correct them, as the message says. Evidence
   * `{trajectory_id}`.
   */
  | 'rules_refused'
  /** The server does not answer. Start it with `assize serve`. */
  | 'no_answer'
  /** The answer has no form of the API. See that the address is that of `assize serve`. */
  | 'bad_answer'
  /** The server refused the request. Do what its message says. Evidence `{code}`. */
  | 'server_refused'
  /** The program has no token of the person. Pass it in `people`. Evidence `{principal}`. */
  | 'no_credential';

/** A tool call that was not made, or has no result. */
export class CallError extends AssizeError<CallErrorCode> {
  override readonly name = 'CallError';
}
