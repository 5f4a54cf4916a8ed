/**
 * A server whose domain can loop without an end, until it is stopped by SIGTERM or ends itself:
 * `URL HTTP_PORT LIMIT_MS [POISON]`. A rule loops on every state of that name.
 */
import { z } from 'zod';
import { loadConfig, type ResolvedConfig, type ResolvedPrincipal } from '#config';
import { type Domain, defineDomain, pass } from '#kernel';
import { serve } from '#server';
import { openStore } from '#stores';
import { ROOT } from './serve-orders.ts';

const [url = '', httpPort = '', limitMs = '', poison = ''] = process.argv.slice(2);

function run(way: string): void {
  // A bundler drops a loop without a call.
  while (way === 'loop') performance.now();
}

const domain = defineDomain({
  name: 'spin',
  version: '1',
  state: z.object({ name: z.string(), done: z.record(z.string(), z.string()) }),
  initial: { name: '', done: {} },
  processes: { spinning: { writes: ['/done'] } },
  roles: { worker: { processes: ['spinning'] } },
  actions: {
    spin: {
      process: 'spinning',
      args: z.object({ id: z.string(), way: z.string() }),
      apply: (state: any, { id, way }: { id: string; way: string }) => {
        run(way);
        state.done[id] = way;
      },
    },
    hold: {
      process: 'spinning',
      args: z.object({ id: z.string(), way: z.string() }),
      apply: (state: any, { id, way }: { id: string; way: string }) => {
        state.done[id] = way;
      },
      // The submission runs it too, with a placeholder.
      onApprove: (_: unknown, { way }: { way: string }, { counselor }: { counselor: string }) =>
        run(counselor.startsWith('boss:') ? way : ''),
    },
  },
  counselors: { boss: (name: string) => name.startsWith('boss:') },
  invariants: ({ invariant }: any) => [
    invariant('SOUND', ['/name'], ({ name }: { name: string }) => {
      run(name === poison && poison !== '' ? 'loop' : '');
      return pass;
    }),
  ],
} as any) as Domain;

const grant = {
  ...{ trajectories: ['*'], actions: ['**'], scopes: ['**'], budget: {}, maxDepth: 0 },
  requireApproval: ['hold'],
};
const principal = (name: string, kinds: ResolvedPrincipal['kinds']): ResolvedPrincipal => ({
  ...{ name, kinds, email: undefined },
  grants: kinds.includes('agent') ? [grant] : [],
});
const defaults = await loadConfig({ from: '/', store: url, env: {} });
const config: ResolvedConfig = {
  ...defaults,
  domains: [domain],
  worlds: Object.fromEntries(['one', 'two'].map((name) => [name, { domain: 'spin', initial: { name, done: {} } }])),
  principals: new Map(
    [
      principal('agent:a', ['agent']),
      principal('boss:b', ['counselor']),
      principal('admin:c', ['admin', 'auditor']),
    ].map((one) => [one.name, one]),
  ),
  server: { ...defaults.server, port: Number(httpPort), watchdogMs: Number(limitMs) },
};
const store = await openStore(url);
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
process.send?.({ url: serving.url });
