import { AssizeError } from '#base';

export type McpErrorCode =
  /** The MCP SDK is not installed. Install it with the command that the message names. */
  | 'missing_peer'
  /**
   * The server of Assize refused a request of the MCP gateway, or did not answer. The message has
   * its words: correct the grant, or start the server. Evidence `{code}`, the code of the answer.
   */
  | 'desk_refused'
  /** The MCP server behind the gateway cannot be reached. Check its command or its address. */
  | 'upstream_unreachable';

/** A failure of the MCP gateway. No call is made after one of these errors. */
export class McpError extends AssizeError<McpErrorCode> {
  override readonly name = 'McpError';
}
