import { type Caller, ServerError } from '@assize/command/operation';
import {
  ApiDesk,
  type CallDesk,
  type HttpEnd,
  httpEnd,
  pinKey,
  type UpstreamSpec,
  upstreamOf,
} from '@assize/gate/internal/mcp';
import { isAssizeError } from 'assize/internal/base';
import type { McpConfig, McpServerConfig, ResolvedConfig } from 'assize/internal/config';
import type { Hono } from 'hono';
import { OPERATIONS } from '../operations/table.ts';
import { type AppParts, requireKind } from './app.ts';
import { askingWith } from './ledger-mcp.ts';
import { admitMessage } from './requests/charged-body.ts';

/** The MCP servers of the configuration, each in front of all its clients. */
export interface McpEnds {
  readonly world: string;
  readonly servers: ReadonlyMap<
    string,
    { readonly config: McpServerConfig; readonly end: HttpEnd }
  >;
  close(): Promise<void>;
}

/** Starts no server yet: each is started by its first client. @throws McpError, ServerError */
export async function mcpEnds(
  { mcp, worlds, server: { limits } }: ResolvedConfig,
  onWarning: (server: string, text: string) => void,
): Promise<McpEnds | undefined> {
  if (mcp === undefined) return undefined;
  const version = '1';
  const servers = new Map<string, { readonly config: McpServerConfig; readonly end: HttpEnd }>();
  for (const [server, config] of Object.entries(mcp.servers)) {
    const warn = (text: string): void => onWarning(server, text);
    const upstream = upstreamOf(config as UpstreamSpec, {
      ...{ version, questions: config.questions, onWarning: warn },
    });
    const options = {
      upstream,
      server,
      version,
      limits: limitsOf(mcp),
      maxBodyBytes: Math.min(limits.bodyBytes, limits.proposalBytes),
    };
    servers.set(server, { config, end: await httpEnd({ ...options, onWarning: warn }) });
  }
  return {
    world: worldOf(mcp, worlds),
    servers,
    close: async () =>
      void (await Promise.all([...servers.values()].map(({ end }) => end.close()))),
  };
}

/**
 * Adds `/mcp/NAME`. A client is an agent with a token. Its calls are proposals of the API, so
 * grants, limits and revocations of tokens count as they do there.
 */
export function addMcp(app: Hono, parts: AppParts, { world, servers }: McpEnds): void {
  app.all('/mcp/:name', async (context) => {
    const request = context.req.raw;
    const found = servers.get(context.req.param('name'));
    const caller = await parts.authenticator.callerOf(request);
    requireKind(caller, ['agent']);
    // A page of another site can use a session, and never a token.
    if (caller.sessionId !== undefined)
      throw new ServerError(
        'forbidden',
        'An MCP client sends a token: Authorization: Bearer TOKEN.',
      );
    if (found === undefined)
      throw new ServerError(
        'not_found',
        `The configuration has no MCP server ${context.req.param('name')}.`,
      );
    context.set('caller' as never, caller.name as never);
    await admitMessage(request, caller, parts);
    const desk = deskOf(app, parts, {
      world,
      server: context.req.param('name'),
      config: found.config,
      caller,
      request,
    });
    return found.end.fetch(request, { name: caller.name, desk });
  });
}

interface Asking {
  readonly world: string;
  readonly server: string;
  readonly config: McpServerConfig;
  readonly caller: Caller;
  readonly request: Request;
}

/** The desk of a request asks the API of this process, with the token of the request. */
function deskOf(
  app: Hono,
  parts: AppParts,
  { world, server, config, caller, request }: Asking,
): CallDesk {
  const { origin } = parts.addresses;
  const person = config.clientsSpeakForPeople === true ? config.people?.[caller.name] : undefined;
  return new ApiDesk({
    ...{ world, server, agent: caller.name.replace(/^agent:/, ''), url: origin },
    ask: askingWith(app, parts, request),
    pin: (tool, definition, before) =>
      parts.service.gateways.pin(
        world,
        { server, tool, definition },
        pinKey(server, tool, definition, before),
      ),
    ...(person !== undefined && { decide: decisionsOf(parts, person) }),
  });
}

/** Decisions of the person whom the configuration names, by the client of an agent. */
function decisionsOf({ service }: AppParts, name: string): NonNullable<CallDesk['decide']> {
  return async (approval, decision, digest) => {
    const principal = service.config.principals.get(name);
    if (principal === undefined || !principal.kinds.includes('counselor'))
      throw new ServerError(
        'forbidden',
        `${name} is not a counselor of the configuration, and cannot decide.`,
      );
    const one = OPERATIONS.find(({ id }) => id === `approvals.${decision}`);
    const body = { digest, ...(decision === 'reject' && { reason: 'declined at the client' }) };
    const caller: Caller = { name, kinds: principal.kinds, grants: [], method: 'elicitation' };
    const deciding = one?.run({ path: { approval }, query: {}, body, caller, service } as never);
    await deciding?.catch((error: unknown) => {
      // Another decision came first, and counts.
      if (!isAssizeError(error, 'not_pending')) throw error;
    });
  };
}

function limitsOf({ waitSeconds, timeoutSeconds, resultBytes }: McpConfig) {
  return {
    ...(waitSeconds !== undefined && { waitMs: waitSeconds * 1_000 }),
    ...(timeoutSeconds !== undefined && { callMs: timeoutSeconds * 1_000 }),
    ...(resultBytes !== undefined && { resultBytes }),
  };
}

/** @throws ServerError `not_found` */
function worldOf({ world }: McpConfig, worlds: ResolvedConfig['worlds']): string {
  const own = Object.keys(worlds).filter((id) => worlds[id]?.domain === 'gateway');
  const found = world ?? (own.length === 1 ? own[0] : undefined);
  if (found !== undefined) return found;
  throw new ServerError(
    'not_found',
    'Name the world of the domain gateway that judges the calls: mcp.world.',
  );
}
