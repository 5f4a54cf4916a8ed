import { AssizeError } from '#base';

/**
 * - `bad_level`: what is no isolation level; evidence `{problem}`.
 * - `unknown_anomaly`: none of those that a level can exclude; evidence `{anomaly}`.
 */
export type IsolationErrorCode = 'bad_level' | 'unknown_anomaly';

/** Misuse of the lattice of levels. */
export class IsolationError extends AssizeError<IsolationErrorCode> {
  override readonly name = 'IsolationError';
}
