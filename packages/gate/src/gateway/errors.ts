import { AssizeError } from 'assize/internal/base';

export type GatewayErrorCode =
  /**
   * A rules file is not valid, or the kernel refuses its rules. Correct the places that the message
   * names. Evidence `{faults}`: each has file, line and column.
   */
  'bad_rules';

/** A rules file or a tool that the gateway domain cannot use. */
export class GatewayError extends AssizeError<GatewayErrorCode> {
  override readonly name = 'GatewayError';
}
