import { AssizeError } from 'assize/internal/base';

export type GatewayErrorCode =
  /**
   * A rules file is not valid. Correct the places that the message names, each with file, line and
   * column. Evidence `{faults}`.
   */
  | 'bad_rules'
  /**
   * A tool cannot be called through the gateway, because its name has no server. Name the tool
   * `server.tool`. Evidence `{tool}`.
   */
  | 'bad_tool';

/** A rules file or a tool that the gateway domain cannot use. */
export class GatewayError extends AssizeError<GatewayErrorCode> {
  override readonly name = 'GatewayError';
}
