import { isInstance } from 'assize/internal/base';
import type { RemoteServer } from './wrap.ts';

const ANSWER_MS = 5_000;

/** A first request of an MCP client. */
const GREETING = {
  ...{ jsonrpc: '2.0', id: 1, method: 'initialize' },
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'assize', version: '1' } },
};

/**
 * Why the gateway could not speak with a server over HTTP. Undefined if it could, or if the client
 * fills in a part of the request.
 */
export async function remoteFault({ url, headers, hasVariables }: RemoteServer): Promise<string | undefined> {
  if (hasVariables) return undefined;
  try {
    const answer = await fetch(url, {
      method: 'POST',
      headers: { accept: 'application/json, text/event-stream', 'content-type': 'application/json', ...headers },
      body: JSON.stringify(GREETING),
      // Another server must not get the headers.
      redirect: 'manual',
      signal: AbortSignal.timeout(ANSWER_MS),
    });
    await answer.body?.cancel();
    if (answer.ok) return undefined;
    if (answer.status >= 300 && answer.status < 400)
      return 'it sends an MCP client to another address; write that address, and repeat the command';
    if (answer.status === 401 && Object.keys(headers).length === 0)
      return 'it asks the client to sign in (OAuth), and the gateway cannot sign in for it';
    return `it answered an MCP client with the status ${answer.status}`;
  } catch (error) {
    return `it did not answer: ${isInstance(error, Error) ? error.message : String(error)}`;
  }
}
