/**
 * The server of a cell, until it is killed or stopped by SIGTERM. Its argument is
 * `CellProcessOptions` as JSON. A message sets its clock ahead, in milliseconds.
 */
import { appendFileSync } from 'node:fs';
import { cellDeployment, openCell } from '#cells';
import { loadConfig, type ResolvedConfig, type ResolvedPrincipal } from '#config';
import { serve } from '#server';
import { AGENTS, type CellProcessOptions, TENANTS } from './cells-orders.ts';
import { agentName, countersWith, ROOT, toolsAt } from './serve-orders.ts';

const options = JSON.parse(process.argv[2]!) as CellProcessOptions;
const { url, port, sinkPort, log, patienceMs } = options;
let aheadMs = 0;
const now = Date.now;
Date.now = () => now() + aheadMs;
process.on('message', (ms) => (aheadMs = Number(ms)));

const grant = {
  ...{ trajectories: ['*'], actions: ['**'], scopes: ['**'] },
  ...{ budget: {}, requireApproval: [], maxDepth: 0 },
};
const principals = Array.from(
  { length: AGENTS },
  (_, n): ResolvedPrincipal => ({
    name: agentName(n),
    kinds: ['agent'],
    grants: [grant],
    email: undefined,
  }),
);
const tools = toolsAt(sinkPort);
const domain = countersWith(tools);
const root = { ...ROOT, origin: 'environment', created: false } as const;
const limits = {
  requestsPerSecond: 1_000_000,
  concurrency: 10_000,
  streams: 10,
  bodyBytes: 1_048_576,
  proposalBytes: 65_536,
  names: 4_096,
  backlog: 10_000,
  simulations: 2,
};
const defaults = await loadConfig({ from: '/', store: url, env: {} });
const failed = (error: unknown): void => appendFileSync(log, `${error}\n`);
const cell = await openCell(url, {
  ...{ root, onFailure: failed },
  ...(patienceMs !== undefined && { statementTimeoutMs: patienceMs, connectTimeoutMs: patienceMs }),
});
const config: ResolvedConfig = {
  ...defaults,
  store: cell.place.store,
  domains: [domain],
  tools,
  worlds: Object.fromEntries(TENANTS.map((tenant) => [tenant, { domain: 'counters' }])),
  principals: new Map(principals.map((one) => [one.name, one])),
  effects: { leaseMs: 5_000, blockTimeoutMs: 60_000 },
  server: { ...defaults.server, port, limits },
};
const serving = await serve({
  ...{ config, store: cell.store, deployment: cellDeployment(cell), domains: [domain], root },
  policyOf: () => {
    throw new Error('no policy is configured here');
  },
  log: (line) => {
    if (line.includes('"level":"error"')) appendFileSync(log, line);
  },
});
process.on('SIGTERM', async () => {
  await serving.stop();
  await cell.store.close();
  process.exit();
});
// A test that is killed leaves no server.
process.on('disconnect', () => process.exit());
process.send?.({ url: serving.url });
