import { AssizeError } from 'assize/internal/base';

export type ArchitectureErrorCode =
  /**
   * A starting state does not fit the domain, or a rule does not pass on it. Pass a state on which
   * every rule passes. Evidence `{state}`: its place in the list, or `initial`.
   */
  | 'bad_start'
  /**
   * No agent proposes anything on the starting states. Pass other states, or agents that propose
   * something there.
   */
  | 'no_proposals';

/** A comparison that cannot be made, or a part of it that failed. */
export class ArchitectureError extends AssizeError<ArchitectureErrorCode> {
  override readonly name = 'ArchitectureError';
}
