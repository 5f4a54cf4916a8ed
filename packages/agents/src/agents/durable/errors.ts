import { AssizeError } from 'assize/internal/base';

export type RunErrorCode =
  /**
   * The run has taken all its turns. Look for an agent that never finishes, and give more turns
   * with `assize run retry`.
   */
  'turns_used';

/** Misuse of durable runs, or a durable run that cannot go on. */
export class RunError extends AssizeError<RunErrorCode> {
  override readonly name: string = 'RunError';
}
