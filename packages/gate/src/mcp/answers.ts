import type { CallToolResult, Tool } from '@modelcontextprotocol/server';
import type { RulingDocument } from 'assize/internal/views';
import type { FlowEnd } from './call-flow.ts';
import type { Gateway } from './gateway.ts';

/** A result in the gateway's own words, for models, with the whole ruling for programs. */
export function errorAnswer(text: string, ruling?: RulingDocument): CallToolResult {
  const _meta = ruling === undefined ? {} : { _meta: { 'assize/ruling': ruling } };
  return { ..._meta, isError: true, content: [{ type: 'text', text }] };
}

/** The result of a call that waits. The same call, repeated, finds the decision. */
export function pendingAnswer(
  { approval, text, ruling }: FlowEnd<never> & { readonly end: 'pending' },
  url: string,
): CallToolResult {
  return { ...errorAnswer(text, ruling), structuredContent: { status: 'pending', approval, url } };
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
  if (size <= gateway.limits.resultBytes || outputSchema !== undefined)
    return { ...rest, _meta } as CallToolResult;
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
