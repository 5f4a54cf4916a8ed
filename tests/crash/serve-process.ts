/**
 * A server process, until it is killed or stopped by SIGTERM:
 * `URL HTTP_PORT SINK_PORT AGENTS WRIT_SECONDS LEASE_MS`. The sinks of its tools are at the sink
 * port, in a process that survives. Its parent may ask for its memory.
 */
import { loadConfig, type ResolvedConfig, type ResolvedPrincipal } from '#config';
import { serve } from '#server';
import { openStore } from '#stores';
import { agentName, COUNSELORS, countersWith, ROOT, toolsAt, WORLDS } from './serve-orders.ts';

const [url = '', httpPort = '', sinkPort = '', agents = '', writSeconds = '', leaseMs = ''] =
  process.argv.slice(2);

const everything = {
  trajectories: ['*'],
  actions: ['**'],
  scopes: ['**'],
  budget: {},
  requireApproval: ['ask'],
  maxDepth: 0,
};
const principals: ResolvedPrincipal[] = [
  ...Array.from({ length: Number(agents) }, (_, n) => principal(agentName(n), ['agent'])),
  ...COUNSELORS.map((name) => principal(name, ['counselor'])),
  principal('human:ada', ['admin', 'auditor']),
];

function principal(name: string, kinds: ResolvedPrincipal['kinds']): ResolvedPrincipal {
  return { name, kinds, grants: kinds.includes('agent') ? [everything] : [], email: undefined };
}

const tools = toolsAt(sinkPort);
const domain = countersWith(tools);
const defaults = await loadConfig({ from: '/', store: url, env: {} });
const config: ResolvedConfig = {
  ...defaults,
  domains: [domain],
  tools,
  worlds: Object.fromEntries(WORLDS.map((world) => [world, { domain: 'counters' }])),
  principals: new Map(principals.map((one) => [one.name, one])),
  approvals: { maxPending: 'unlimited' },
  effects: { leaseMs: Number(leaseMs), blockTimeoutMs: 60_000 },
  server: {
    ...defaults.server,
    port: Number(httpPort),
    peerUrl: 'http://127.0.0.1:0',
    writSeconds: Number(writSeconds),
    limits: {
      requestsPerSecond: 1_000_000,
      concurrency: 10_000,
      streams: 10_000,
      bodyBytes: 1_048_576,
      proposalBytes: 65_536,
      names: 4_096,
      backlog: 100_000,
      simulations: 2,
    },
  },
};
const store = await openStore(url);
const failures: string[] = [];
const serving = await serve({
  ...{ config, store, domains: [domain] },
  root: { ...ROOT, origin: 'environment', created: false },
  policyOf: () => {
    throw new Error('no policy is configured here');
  },
  log: (line) => {
    if (line.includes('"level":"error"')) failures.push(line);
    if (failures.length > 0) process.stderr.write(failures.splice(0).join(''));
  },
});
process.on('message', () => {
  global.gc?.();
  const { rss, heapUsed } = process.memoryUsage();
  process.send?.({ rss, heapUsed });
});
process.on('SIGTERM', async () => {
  await serving.stop();
  await store.close();
  process.exit();
});
process.send?.({ url: serving.url });
