/**
 * A server whose domain can loop without an end, until it is stopped by SIGTERM or ends itself:
 * `URL LIMIT_MS`. Its agent has the token that it says, with its address.
 */
import { z } from 'zod';
import { loadConfig, type ResolvedConfig } from '#config';
import { type Domain, defineDomain } from '#kernel';
import { systemClock } from '#oracle';
import { credentialsOf, serve } from '#server';
import { openStore } from '#stores';
import { ROOT } from './serve-orders.ts';

const [url = '', limitMs = ''] = process.argv.slice(2);

const WAYS: Readonly<Record<string, () => void>> = {
  fine: () => undefined,
  loop: () => {
    // A bundler drops a loop without a call.
    for (;;) performance.now();
  },
  pattern: () => void /^(a+)+$/.test(`${'a'.repeat(60)}b`),
  short: () => {
    for (const end = performance.now() + 150; performance.now() < end; );
  },
};

const domain = defineDomain({
  name: 'spin',
  version: '1',
  state: z.object({ done: z.array(z.string()) }),
  initial: { done: [] },
  processes: { spinning: { writes: ['/done'] } },
  roles: { worker: { processes: ['spinning'] } },
  actions: {
    spin: {
      process: 'spinning',
      args: z.object({ way: z.string() }),
      apply: (state: { done: string[] }, { way }: { way: string }) => {
        WAYS[way]!();
        state.done.push(way);
      },
    },
  },
  invariants: [],
} as any) as Domain;

const grant = {
  trajectories: ['*'],
  actions: ['**'],
  scopes: ['**'],
  budget: {},
  maxDepth: 0,
  requireApproval: [],
};
const defaults = await loadConfig({ from: '/', store: url, env: {} });
const config: ResolvedConfig = {
  ...defaults,
  domains: [domain],
  worlds: { one: { domain: 'spin' } },
  principals: new Map([
    ['agent:a', { name: 'agent:a', kinds: ['agent'], email: undefined, grants: [grant] }],
  ]),
  server: { ...defaults.server, port: 0, watchdogMs: Number(limitMs) },
};
const store = await openStore(url);
const created = systemClock.now();
const expires = '2099-01-01T00:00:00.000000Z';
const { tokens } = credentialsOf(store, ROOT);
const { token } = await tokens.create({ principal: 'agent:a', kinds: ['agent'], created, expires });
const serving = await serve({
  ...{ config, store, domains: [domain] },
  root: { ...ROOT, origin: 'environment', created: false },
  policyOf: () => {
    throw new Error('no policy is configured here');
  },
  log: (line) => void (line.includes('"level":"error"') && process.stderr.write(line)),
});
process.on('SIGTERM', async () => {
  await serving.stop();
  await store.close();
  process.exit();
});
process.send?.({ url: serving.url, token });
