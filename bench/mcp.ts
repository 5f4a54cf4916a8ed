/**
 * A call through the MCP gateway beside a bare proxy of the same SDK in the same run: both pass the
 * same call to the same kind of server, over pipes in memory. The gateway also has the call judged,
 * started and reported by a server of Assize on a SQLite store, over HTTP.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MemoryStore } from '@assize/testing/memory';
import { Client, InMemoryTransport } from '@modelcontextprotocol/client';
import { McpServer, Server } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';
import { openStore, type Store } from '#stores';
import { connected, served } from '../tests/support/mcp/served-gateway.ts';
import { type BenchResult, median } from './measure.ts';

const ROUNDS = 7;
const CALLS = 100;
const WARM = 300;
/** The goal of the difference between the medians, in milliseconds. */
const OVER_MAX = 1;

const RULES = 'id: bench\ntrust: [notes]\ndefault: allow\n';

type Call = (n: number) => Promise<unknown>;

export async function mcpBench(): Promise<BenchResult[]> {
  const folder = mkdtempSync(join(tmpdir(), 'assize-bench-'));
  try {
    return [
      ...(await measure('memory', new MemoryStore(), { max: OVER_MAX })),
      ...(await measure('SQLite', await openStore(`sqlite:${join(folder, 'mcp.db')}`))),
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measure(
  where: string,
  store: Store,
  goal?: BenchResult['goal'],
): Promise<BenchResult[]> {
  const place = await served(RULES, { store, stopsAlone: true });
  const own = await connected(place, upstream as never);
  const bare = await proxied();
  const calls = { own: callsOf(own.client), bare: callsOf(bare) };
  try {
    for (const call of [calls.own, calls.bare]) await timesOf(call, WARM);
    const medians: { own: number[]; bare: number[] } = { own: [], bare: [] };
    for (let round = 0; round < ROUNDS; round++)
      for (const which of round % 2 === 0 ? (['bare', 'own'] as const) : (['own', 'bare'] as const))
        medians[which].push(median(await timesOf(calls[which], CALLS)));
    const [ownMs, bareMs] = [median(medians.own), median(medians.bare)];
    const name = `a call through the MCP gateway, ${where}, p50`;
    const baseline = { name: 'bare proxy', value: bareMs };
    return [
      { name, value: ownMs, unit: 'ms', baseline },
      {
        name: `${name}, over the bare proxy`,
        value: ownMs - bareMs,
        unit: 'ms',
        ...(goal && { goal }),
      },
    ];
  } finally {
    await own.close();
    await bare.close();
    await place.server.stop();
    await store.close();
  }
}

function upstream(transport: InMemoryTransport): void {
  serveStdio(
    () => {
      const server = new McpServer({ name: 'notes', version: '1' });
      const inputSchema = z.object({ n: z.number() });
      server.registerTool('add', { inputSchema }, async ({ n }) => ({
        content: [{ type: 'text', text: String(n) }],
      }));
      return server;
    },
    { transport },
  );
}

/** The thirty lines that a proxy without rules needs. */
async function proxied(): Promise<Client> {
  const [toServer, server] = InMemoryTransport.createLinkedPair();
  upstream(server);
  const up = new Client({ name: 'proxy', version: '1' }, { versionNegotiation: { mode: 'auto' } });
  await up.connect(toServer);
  const [near, far] = InMemoryTransport.createLinkedPair();
  serveStdio(
    () => {
      const proxy = new Server({ name: 'proxy', version: '1' }, { capabilities: { tools: {} } });
      proxy.setRequestHandler('tools/list', () => up.listTools());
      proxy.setRequestHandler('tools/call', ({ params }) => up.callTool(params));
      return proxy;
    },
    { transport: far },
  );
  const client = new Client(
    { name: 'bench', version: '1' },
    { versionNegotiation: { mode: 'auto' } },
  );
  await client.connect(near);
  return client;
}

function callsOf(client: Client): Call {
  return (n) => client.callTool({ name: 'add', arguments: { n } });
}

async function timesOf(call: Call, count: number): Promise<number[]> {
  const times: number[] = [];
  for (let n = 0; n < count; n++) {
    const start = performance.now();
    await call(n);
    times.push(performance.now() - start);
  }
  return times;
}
