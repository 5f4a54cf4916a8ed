import { AssizeError } from 'assize/internal/base';

export type NoticeErrorCode =
  /**
   * A receiver answered a notice with an error, and the notice is sent again later. Look into the
   * receiver's log. Evidence `{status}`.
   */
  | 'receiver_refused'
  /**
   * The address of a webhook is private, and nothing was sent. Set `allowPrivate` on that webhook
   * if its receiver is in your own network.
   */
  | 'receiver_forbidden';

/** A notice that was not delivered. The ledger is unchanged. */
export class NoticeError extends AssizeError<NoticeErrorCode> {
  override readonly name = 'NoticeError';
}
