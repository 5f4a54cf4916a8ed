/**
 * A server process of `http.ts`, `servers.ts` and `cells.ts`: `node http-server.ts assize|bare
 * STORE`, or `routed STORE SEED`, one of several servers with the root key of a seed that forward
 * requests to each other; `unrouted STORE SEED` is one that does not. `cell STORE SEED WORLD`
 * serves one cell, whose tenant has that world. All answer the same requests with the
 * same validation of the body. The bare server inserts one row a request.
 */

import type { AddressInfo } from 'node:net';
import { DatabaseSync } from 'node:sqlite';
import { createAdaptorServer } from '@hono/node-server';
import { Hono } from 'hono';
import { Pool } from 'pg';
import { generateKeys } from '#canon';
import { cellDeployment, isCellsUrl, openCell } from '#cells';
import { loadConfig, type ResolvedPrincipal } from '#config';
import type { Domain } from '#kernel';
import { systemClock } from '#oracle';
import { credentialsOf, OPERATIONS, serve } from '#server';
import { openStore } from '#stores';
import { MEMBERS, type Ready } from './http-process.ts';
import { shop, shopState } from './shop.ts';

const AGENT = 'agent:bench';
const READER = 'auditor:bench';
const NO_LIMITS = {
  requestsPerSecond: 1e9,
  concurrency: 1e6,
  streams: 1e6,
  bodyBytes: 1_048_576,
  proposalBytes: 65_536,
  names: 4_096,
  backlog: 1e6,
  simulations: 2,
};

interface Served {
  readonly seed?: string | undefined;
  readonly peerUrl?: string | undefined;
  readonly world?: string | undefined;
}

async function serveAssize(url: string, { seed, peerUrl, world = 't' }: Served): Promise<Ready> {
  const root = generateKeys(seed === undefined ? undefined : Buffer.from(seed, 'hex'));
  const onFailure = (error: unknown): void => console.error(error);
  const cell = isCellsUrl(url) ? await openCell(url, { root, onFailure }) : undefined;
  const store = cell?.store ?? (await openStore(url));
  const { tokens } = credentialsOf(cell?.log.store ?? store, root);
  const tokenOf = async (principal: string): Promise<string> => {
    const terms = {
      kinds: ['agent', 'auditor'] as const,
      created: systemClock.now(),
      expires: '2100-01-01T00:00:00.000000Z',
    };
    return (await tokens.create({ principal, ...terms })).token;
  };
  const grant = {
    trajectories: ['*'],
    actions: ['visit'],
    scopes: ['role:clerk:*'],
    budget: { calls: 2 ** 52 },
  };
  const principals: ResolvedPrincipal[] = [
    {
      name: AGENT,
      kinds: ['agent'],
      grants: [{ ...grant, requireApproval: [], maxDepth: 0 }],
      email: undefined,
    },
    { name: READER, kinds: ['auditor'], grants: [], email: undefined },
  ];
  const defaults = await loadConfig({ from: '/', store: url, env: {} });
  const serving = await serve({
    config: {
      ...defaults,
      store: cell?.place.store ?? url,
      worlds: { [world]: { domain: shop.name, initial: shopState(MEMBERS) } },
      principals: new Map(principals.map((one) => [one.name, one])),
      server: { ...defaults.server, port: 0, peerUrl, limits: NO_LIMITS },
    },
    deployment: cell && cellDeployment(cell),
    ...{
      store,
      domains: [shop as Domain],
      root: { ...root, origin: 'environment', created: false },
    },
    policyOf: () => {
      throw new Error('the benchmark has no policy');
    },
    // As the command writes its log: to standard error, a file or a pipe.
    log: (line) => void process.stderr.write(line),
  });
  return {
    port: Number(new URL(serving.url).port),
    token: await tokenOf(AGENT),
    readerToken: await tokenOf(READER),
  };
}

async function serveBare(url: string): Promise<Ready> {
  const form = OPERATIONS.find(({ id }) => id === 'proposals.create')!.body!;
  const insert = url.startsWith('sqlite:')
    ? intoSqlite(url.slice('sqlite:'.length))
    : await intoPostgres(url);
  const app = new Hono();
  app.post('/v1/trajectories/:trajectory/proposals', async (context) => {
    const body = form.parse(await context.req.json());
    const id = await insert(context.req.header('idempotency-key')!, JSON.stringify(body));
    return context.json({
      ruling: 'committed',
      trajectory_id: context.req.param('trajectory'),
      seq: id,
    });
  });
  const server = createAdaptorServer({ fetch: app.fetch });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { port: (server.address() as AddressInfo).port, token: '', readerToken: '' };
}

type Insert = (key: string, text: string) => number | Promise<number>;

/** One transaction a request, on disk before the answer. */
function intoSqlite(path: string): Insert {
  const db = new DatabaseSync(path);
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 2000');
  db.exec('CREATE TABLE entry (id INTEGER PRIMARY KEY, key TEXT UNIQUE, payload TEXT) STRICT');
  const statement = db.prepare('INSERT INTO entry (key, payload) VALUES (?, ?)');
  return (key, text) => Number(statement.run(key, text).lastInsertRowid);
}

async function intoPostgres(url: string): Promise<Insert> {
  const pool = new Pool({ connectionString: url, max: 16 });
  await pool.query(
    'CREATE TABLE bare_entry (id BIGSERIAL PRIMARY KEY, key TEXT UNIQUE, payload TEXT)',
  );
  const statement = {
    name: 'insert',
    text: 'INSERT INTO bare_entry (key, payload) VALUES ($1, $2) RETURNING id',
  };
  return async (key, text) =>
    Number((await pool.query({ ...statement, values: [key, text] })).rows[0].id);
}

const [kind, url = '', seed, world] = process.argv.slice(2);
process.on('message', () => {
  global.gc?.();
  const { rss, heapUsed } = process.memoryUsage();
  process.send?.({ rss, heapUsed });
});
process.on('disconnect', () => process.exit());
const peerUrl = kind === 'routed' ? 'http://127.0.0.1:0' : undefined;
process.send?.(
  kind === 'bare' ? await serveBare(url) : await serveAssize(url, { seed, peerUrl, world }),
);
