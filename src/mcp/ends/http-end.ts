import { randomBytes } from 'node:crypto';
import type { McpHttpHandler } from '@modelcontextprotocol/server';
import type { Question } from '../call-flow.ts';
import type { CallDesk } from '../desk/call-desk.ts';
import { Gateway, type GatewayLimits } from '../gateway.ts';
import { gatewayServer, QUESTION_SECONDS } from '../gateway-server.ts';
import { loadServer } from '../peers.ts';
import type { Upstream } from '../upstream/upstream.ts';

export interface HttpEndOptions {
  readonly upstream: Upstream;
  readonly server: string;
  readonly version: string;
  readonly limits?: Partial<GatewayLimits> | undefined;
  readonly maxBodyBytes: number;
  readonly onWarning: (text: string) => void;
}

/** The authenticated principal of a request, with its desk. */
export interface HttpPrincipal {
  readonly name: string;
  readonly desk: CallDesk;
}

/** One MCP server for all HTTP clients. Calls, results and questions are apart by principal. */
export interface HttpEnd {
  fetch(request: Request, principal: HttpPrincipal): Promise<Response>;
  close(): Promise<void>;
}

export async function httpEnd(options: HttpEndOptions): Promise<HttpEnd> {
  const { upstream, server, version, limits, maxBodyBytes, onWarning } = options;
  const { createMcpHandler, createRequestStateCodec } = await loadServer();
  const gateways = new Map<string, Gateway>();
  const codec = createRequestStateCodec<Question>({
    key: randomBytes(32),
    ttlSeconds: QUESTION_SECONDS,
    bind: ({ mcpReq, http }) => `${mcpReq.method}\0${http?.authInfo?.clientId ?? ''}`,
  });
  const handler: McpHttpHandler = createMcpHandler(
    async ({ authInfo }) => {
      const gateway = gateways.get(authInfo?.clientId ?? '');
      if (gateway === undefined) throw new Error('the request has no principal');
      return gatewayServer({ gateway, server, version, codec });
    },
    { maxRequestBodySize: maxBodyBytes, onerror: (error) => onWarning(error.message) },
  );
  const stop = upstream.onEvent((event) => {
    if (event === 'tools') handler.notify.toolsChanged();
    else if (event === 'prompts') handler.notify.promptsChanged();
    else handler.notify.resourcesChanged();
  });
  return {
    fetch: async (request, { name, desk }) => {
      const gateway = gateways.get(name) ?? new Gateway({ upstream, desk, limits, onWarning });
      gateway.desk = desk;
      gateways.set(name, gateway);
      return handler.fetch(request, { authInfo: { token: '', clientId: name, scopes: [] } });
    },
    close: async () => {
      stop();
      await handler.close();
      await Promise.all([...gateways.values()].map((gateway) => gateway.settled()));
      await upstream.close();
    },
  };
}
