import { AssizeError } from 'assize';

export type AnomalyErrorCode =
  /** An optional package is not installed. Install the package that the message names. */
  | 'not_installed'
  /**
   * The folder does not have the other memories in the pinned versions. Install them with
   * `.ci/peers`.
   */
  | 'no_peers'
  /** The URL of the server is malformed. Correct the URL; the message never repeats it. */
  | 'bad_url'
  /**
   * The server can't be reached, or refuses this user or schema. Follow the server's message,
   * quoted in the error.
   */
  | 'unreachable';

/** An experiment of the memory paper that can't run here. */
export class AnomalyError extends AssizeError<AnomalyErrorCode> {
  override readonly name = 'AnomalyError';
}
