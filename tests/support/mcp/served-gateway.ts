/** A server of Assize in this process, and gateways before an MCP server in memory. */

import { MemoryStore } from '@assize/testing/memory';
import { Client, type ClientOptions, InMemoryTransport } from '@modelcontextprotocol/client';
import type { AssizeConfig } from '#config';
import { gateway as gatewayDomain, readRules } from '#domains/gateway';
import type { Domain } from '#kernel';
import {
  ApiDesk,
  type Ask,
  Gateway,
  type GatewayLimits,
  httpAsk,
  type QuestionKind,
  stdioEnd,
  Upstream,
} from '#mcp';
import type { Store } from '#stores';
import { start, type TestServer } from '../server/serving.ts';

export const ADA = 'agent:ada';
export const GRACE = 'manager:grace';
const HAL = 'manager:hal';

const PRINCIPALS = {
  [ADA]: {
    kinds: ['agent'],
    grants: [
      {
        actions: ['call', 'begin', 'report', 'pin', 'session'],
        scopes: ['role:agent:ada', 'role:gate', 'tool:notes:**'],
      },
    ],
  },
  [GRACE]: { kinds: ['counselor', 'auditor'] },
  [HAL]: { kinds: ['counselor', 'auditor'] },
} as const;

export interface Served {
  readonly server: TestServer;
  readonly tokens: Readonly<Record<string, string>>;
  desk(more?: {
    readonly asPerson?: string | undefined;
    readonly wrap?: Wrap | undefined;
    readonly run?: string | undefined;
  }): ApiDesk;
  approve(approval: string): Promise<any>;
  /** `manager:hal` approves as the second person. */
  approveToo(approval: string): Promise<any>;
  reject(approval: string): Promise<any>;
  approvals(): Promise<readonly any[]>;
  state(): Promise<any>;
}

interface Serving {
  readonly store?: Store;
  readonly mcp?: AssizeConfig['mcp'];
  readonly approvals?: AssizeConfig['approvals'];
  /** For a process that is not a test. */
  readonly stopsAlone?: boolean;
}

/** Serves the world `calls` under the rules. */
export async function served(
  yaml: string,
  { store = new MemoryStore(), mcp, approvals: asking, stopsAlone = false }: Serving = {},
): Promise<Served> {
  const { rules } = readRules(yaml);
  const server = await start({
    ...{
      store,
      rules,
      stopsAlone,
      domains: [gatewayDomain({ rules }) as unknown as Domain],
      principals: PRINCIPALS as never,
    },
    config: {
      ...{ tools: [], worlds: { calls: { domain: 'gateway' } } },
      ...(mcp !== undefined && { mcp }),
      ...(asking !== undefined && { approvals: asking }),
    },
  });
  const tokens: Readonly<Record<string, string>> = {
    [ADA]: await server.tokenFor(ADA),
    [GRACE]: await server.tokenFor(GRACE),
    [HAL]: await server.tokenFor(HAL),
  };
  const askAs = (token: string): Ask => httpAsk(server.url, token);
  const approvals = async (): Promise<readonly any[]> => {
    const answer = await server.ask('GET', '/v1/approvals', { token: tokens[GRACE] });
    return answer.body.approvals;
  };
  const decide = async (
    approval: string,
    decision: 'approve' | 'reject',
    by: string = GRACE,
  ): Promise<any> => {
    const digest = (await approvals()).find(({ id }) => id === approval)?.digest;
    const body = { digest, ...(decision === 'reject' && { reason: 'no' }) };
    return (
      await server.ask('POST', `/v1/approvals/${approval}/${decision}`, { token: tokens[by], body })
    ).body;
  };
  return {
    ...{ server, tokens, approvals },
    desk: ({ asPerson, run, wrap = (ask: Ask) => ask } = {}) =>
      new ApiDesk({
        ...{
          ask: wrap(askAs(tokens[ADA] as string)),
          world: 'calls',
          server: 'notes',
          agent: 'ada',
          url: server.url,
          run,
        },
        ...(asPerson !== undefined && { askAsPerson: askAs(tokens[asPerson] as string) }),
      }),
    approve: (approval) => decide(approval, 'approve'),
    approveToo: (approval) => decide(approval, 'approve', HAL),
    reject: (approval) => decide(approval, 'reject'),
    state: async () =>
      (await server.ask('GET', '/v1/trajectories/calls/state', { token: tokens[GRACE] })).body
        .state,
  };
}

/** Stands between a desk and the API, for lost answers. */
export type Wrap = (ask: Ask) => Ask;

export interface Connecting {
  readonly wrap?: Wrap;
  /** The run of its calls. */
  readonly run?: string;
  readonly limits?: Partial<GatewayLimits>;
  /** Whether the client speaks the protocol of 2026. */
  readonly era?: 'legacy' | 'modern';
  readonly client?: ClientOptions;
  readonly gateway?: Gateway;
  readonly asPerson?: string;
  readonly questions?: readonly QuestionKind[];
}

export interface Connected {
  readonly client: Client;
  readonly gateway: Gateway;
  readonly warnings: readonly string[];
  close(): Promise<void>;
}

/** A gateway before a server. Both ends are in memory. */
export function gatewayBefore(
  { desk }: Served,
  serve: (transport: InMemoryTransport) => unknown,
  { limits, asPerson, wrap, run, questions }: Connecting = {},
  warnings: string[] = [],
): Gateway {
  const onWarning = (text: string): void => void warnings.push(text);
  const upstream = new Upstream({
    info: { name: 'assize', version: '0' },
    questions,
    onWarning,
    transport: async () => {
      const [own, far] = InMemoryTransport.createLinkedPair();
      await serve(far);
      return own;
    },
  });
  return new Gateway({
    ...{ upstream, onWarning, limits: { waitMs: 0, ...limits } },
    desk: desk({ asPerson, wrap, run }),
  });
}

/** A client of a gateway, over pipes in memory. */
export async function connected(
  place: Served,
  serve: (transport: InMemoryTransport) => unknown,
  given: Connecting = {},
): Promise<Connected> {
  const warnings: string[] = [];
  const gateway = given.gateway ?? gatewayBefore(place, serve, given, warnings);
  return { ...(await clientOf(gateway, given)), warnings };
}

/** A client of a gateway with any server behind it. */
export async function clientOf(
  gateway: Gateway,
  given: Connecting = {},
): Promise<Omit<Connected, 'warnings'>> {
  const [near, far] = InMemoryTransport.createLinkedPair();
  const ends = new AbortController();
  const ended = stdioEnd({ gateway, server: 'notes', version: '0', transport: far }, ends.signal);
  const mode = given.era === 'legacy' ? 'legacy' : { pin: '2026-07-28' };
  const client = new Client(
    { name: 'test', version: '0' },
    { versionNegotiation: { mode }, ...given.client },
  );
  await gateway.upstream.client();
  await new Promise((resolve) => setImmediate(resolve));
  await client.connect(near);
  return {
    ...{ client, gateway },
    close: async () => {
      await client.close();
      ends.abort();
      await ended;
    },
  };
}
