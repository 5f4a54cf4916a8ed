import { AssizeError } from 'assize/internal/base';

export type MiningErrorCode =
  /**
   * The rule cannot be written in that form. The message says why, and which form has a place for
   * it. Evidence `{rule, form}`.
   */
  'not_expressible';

/** Runs that cannot be mined, or a mined rule that cannot be written. */
export class MiningError extends AssizeError<MiningErrorCode> {
  override readonly name = 'MiningError';
}
