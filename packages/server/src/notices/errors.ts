import { AssizeError } from 'assize/internal/base';

export type NoticeErrorCode =
  /**
   * The configuration of notices cannot be used; the server does not start. Correct the receiver
   * that the message names.
   */
  | 'bad_notices'
  /**
   * A receiver answered a notice with an error, and the notice is sent again later. Look into the
   * receiver's log. Evidence `{status}`.
   */
  | 'receiver_refused'
  /**
   * A receiver could not be reached or did not answer in time, and the notice is sent again later.
   * Check the receiver and its address.
   */
  | 'receiver_unreachable'
  /**
   * The address of a webhook is private, and nothing was sent. Set `allowPrivate` on that webhook
   * if its receiver is in your own network.
   */
  | 'receiver_forbidden';

/** A notice that was not delivered. The ledger is unchanged. */
export class NoticeError extends AssizeError<NoticeErrorCode> {
  override readonly name = 'NoticeError';
}
