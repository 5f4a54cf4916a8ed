import type { ClientCapabilities, Server, ServerContext } from '@modelcontextprotocol/server';
import type { loadServer } from './peers.ts';

type ServerSdk = Awaited<ReturnType<typeof loadServer>>;

/** The capabilities of the client of a request. */
export function capabilitiesOf(
  sdk: ServerSdk,
  server: Server,
  { mcpReq }: ServerContext,
): ClientCapabilities {
  const envelope = mcpReq.envelope as
    | Readonly<Record<string, ClientCapabilities | undefined>>
    | undefined;
  const stated = envelope?.[sdk.CLIENT_CAPABILITIES_META_KEY];
  return stated ?? server.getClientCapabilities() ?? {};
}

/** Whether the client of a request can ask its person with a form. */
export function elicits(sdk: ServerSdk, server: Server, ctx: ServerContext): boolean {
  return hasForms(capabilitiesOf(sdk, server, ctx));
}

/** Whether a client with these capabilities shows forms. */
export function hasForms({ elicitation }: ClientCapabilities): boolean {
  return elicitation !== undefined && ('form' in elicitation || !('url' in elicitation));
}

/** A form with one box for a decision. */
export function decisionForm(title: string) {
  return {
    type: 'object' as const,
    properties: { approve: { type: 'boolean' as const, title } },
    required: ['approve'],
  };
}

/** The person's answer to a form with one box. An accepted form without its mark rejects. */
export function decisionOf(view: {
  readonly kind: string;
  readonly action?: string;
  readonly content?: unknown;
}): 'approve' | 'reject' | 'none' {
  if (view.kind !== 'elicit') return 'none';
  if (view.action === 'decline') return 'reject';
  if (view.action !== 'accept') return 'none';
  return (view.content as { readonly approve?: unknown } | undefined)?.approve === true
    ? 'approve'
    : 'reject';
}
