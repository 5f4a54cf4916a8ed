import { loadConfig } from '#config';
import type { Clock } from '#oracle';
import { type Serving, serve } from '#server';
import type { Store } from '#stores';
import { desk } from './desk.ts';
import { operator } from './runtime.ts';

/** An agent of a served desk, and a person who reads its ledger. */
export const AGENT = 'agent:a';
export const READER = 'human:reader';

export interface ServedDeskOptions {
  readonly clock?: Clock;
  readonly writSeconds?: number;
  /** Event streams of one principal. */
  readonly streams?: number;
}

/** A server over a store, on a free port, with a desk `desk`. */
export async function serveDesk(
  store: Store,
  { clock, writSeconds = 900, streams = 1_000 }: ServedDeskOptions = {},
): Promise<Serving> {
  const defaults = await loadConfig({ from: '/', store: 'memory:', env: {} });
  const grant = {
    trajectories: ['*'],
    actions: ['**'],
    scopes: ['**'],
    budget: {},
    requireApproval: [],
    maxDepth: 0,
  };
  const limits = {
    requestsPerSecond: 1e6,
    concurrency: 1e6,
    streams,
    bodyBytes: 1e6,
    proposalBytes: 1e6,
    names: 1e6,
    backlog: 1e6,
    simulations: 2,
  };
  return serve({
    config: {
      ...defaults,
      worlds: { desk: { domain: 'desk' } },
      principals: new Map([
        [AGENT, { name: AGENT, kinds: ['agent'], grants: [grant], email: undefined }],
        [READER, { name: READER, kinds: ['auditor'], grants: [], email: undefined }],
      ]),
      server: { ...defaults.server, port: 0, writSeconds, limits },
    },
    ...{ store, domains: [desk], root: { ...operator, origin: 'ephemeral', created: false } },
    ...(clock !== undefined && { clock }),
    policyOf: () => {
      throw new Error('a served desk has no policy');
    },
    log: () => undefined,
  });
}

/** A token that counts for every kind of its principal. */
export async function tokenOf({ service }: Serving, principal: string): Promise<string> {
  const kinds = ['agent', 'auditor'] as const;
  const terms = {
    principal,
    kinds,
    created: service.clock.now(),
    expires: '2100-01-01T00:00:00.000000Z',
  };
  return (await service.tokens.create(terms)).token;
}

/** The answer to a proposal at the desk. */
export async function proposeAt(
  { url }: Serving,
  token: string,
  { key, action, args }: { readonly key: string; readonly action: string; readonly args: object },
): Promise<any> {
  const response = await fetch(`${url}/v1/trajectories/desk/proposals`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'idempotency-key': key,
    },
    body: JSON.stringify({ action, role: 'worker', args }),
  });
  return response.json();
}
