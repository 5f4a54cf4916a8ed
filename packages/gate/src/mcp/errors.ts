import { AssizeError } from 'assize/internal/base';

export type McpErrorCode =
  /** The MCP SDK is not installed. Install it with the command that the message names. */
  | 'missing_peer'
  /**
   * The server of Assize refused a request of the MCP gateway, or did not answer. The message has
   * its words: correct the grant, or start the server. Evidence `{code}`, the code of the answer.
   */
  | 'desk_refused'
  /**
   * A token that does not name a person cannot decide at a client. Pass a token of a counselor, or
   * leave `--decide` out. Evidence `{principal}`.
   */
  | 'no_person'
  /** The MCP server behind the gateway cannot be reached. Check its command or its address. */
  | 'upstream_unreachable';

/** A failure of the MCP gateway or of the ledger's MCP server. No call is made after it. */
export class McpError extends AssizeError<McpErrorCode> {
  override readonly name = 'McpError';
}
