import { AssizeError } from 'assize/internal/base';

/** A failure of the MCP gateway or of the ledger's MCP server. No call is made after it. */
export class McpError extends AssizeError<never> {
  override readonly name = 'McpError';
}
