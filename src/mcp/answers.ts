import type { CallToolResult, Tool } from '@modelcontextprotocol/server';
import type { Gateway } from './gateway.ts';

/** A result in the gateway's own words. */
export function errorAnswer(text: string): CallToolResult {
  return { isError: true, content: [{ type: 'text', text }] };
}

/** The result of a call that waits. The same call, repeated, finds the decision. */
export function pendingAnswer(
  { approval, text }: { readonly approval: string; readonly text: string },
  url: string,
): CallToolResult {
  return { ...errorAnswer(text), structuredContent: { status: 'pending', approval, url } };
}

/**
 * The answer of the server, as a client gets it, with the id of the call in the ledger. A large one
 * is a link, unless the tool promises structured content.
 */
export function callAnswer(
  { call, result }: { readonly call: string; readonly result: CallToolResult },
  { outputSchema }: Tool,
  gateway: Gateway,
): CallToolResult {
  const { _meta: own, ...rest } = result;
  const _meta = { ...own, 'assize/call': call };
  const text = JSON.stringify(rest);
  const size = Buffer.byteLength(text);
  if (size <= gateway.limits.resultBytes || outputSchema !== undefined) return { ...rest, _meta } as CallToolResult;
  const uri = gateway.results.keep(text, text.length);
  return {
    _meta,
    ...(rest.isError === true && { isError: true }),
    content: [
      { type: 'text', text: `The result has ${size} bytes. Read the resource ${uri} for it.` },
      { type: 'resource_link', uri, name: 'result', mimeType: 'application/json', size },
    ],
  };
}
