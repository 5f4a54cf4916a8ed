import { randomBytes } from 'node:crypto';
import type { McpHttpHandler } from '@modelcontextprotocol/server';
import type { CallDesk } from '../desk/call-desk.ts';
import { Gateway, type GatewayLimits } from '../gateway.ts';
import { type Carried, gatewayServer } from '../gateway-server.ts';
import { loadServer } from '../peers.ts';
import { QUESTION_SECONDS } from '../talk/conversations.ts';
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

/** How often the tools of a principal are looked at, and for how long after its last request. */
const LOOK_MS = 3_000;
const LOOK_FOR_MS = 3_600_000;

export async function httpEnd(options: HttpEndOptions): Promise<HttpEnd> {
  const { upstream, server, version, limits, maxBodyBytes, onWarning } = options;
  const { createMcpHandler, createRequestStateCodec } = await loadServer();
  const gateways = new Map<string, Gateway>();
  const lastSeen = new Map<string, number>();
  const codec = createRequestStateCodec<Carried>({
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
  // An approved definition is an entry of the ledger. The server behind does not learn of it.
  const looking = setInterval(() => {
    for (const [name, seen] of lastSeen) {
      if (performance.now() - seen > LOOK_FOR_MS) lastSeen.delete(name);
      else void gateways.get(name)?.onOtherTools(() => handler.notify.toolsChanged());
    }
  }, LOOK_MS).unref();
  return {
    fetch: async (request, { name, desk }) => {
      const gateway = gateways.get(name) ?? new Gateway({ upstream, desk, limits, onWarning });
      gateway.desk = desk;
      gateways.set(name, gateway);
      lastSeen.set(name, performance.now());
      return handler.fetch(request, { authInfo: { token: '', clientId: name, scopes: [] } });
    },
    close: async () => {
      clearInterval(looking);
      stop();
      await handler.close();
      await Promise.all([...gateways.values()].map((gateway) => gateway.settled()));
      await upstream.close();
    },
  };
}
