import { AssizeError } from 'assize';

export type AnomalyErrorCode =
  /** An optional library is not installed; the message says which and how. */
  | 'not_installed'
  /** The folder that was named does not have the other memories in the versions that are pinned. */
  | 'no_peers'
  /** The URL of the server is none; the message never repeats it. */
  | 'bad_url'
  /** The server can't be reached, or does not let this user in or make a schema; the message says what it said. */
  | 'unreachable';

/** An experiment that can't be run here. */
export class AnomalyError extends AssizeError<AnomalyErrorCode> {
  override readonly name = 'AnomalyError';
}
