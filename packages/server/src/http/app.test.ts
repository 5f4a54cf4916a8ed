import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';
import type { Caller } from '@assize/command/operation';
import { ANYBODY, type Answer } from '@assize/command/operation';
import { createAdaptorServer } from '@hono/node-server';
import type { Hono } from 'hono';
import { expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import { Logger } from '../log/logger.ts';
import { Metrics } from '../log/metrics.ts';
import { operation } from '../service.ts';
import { createApp } from './app.ts';
import { Backlog } from './requests/backlog.ts';
import { DEFAULT_LIMITS } from './requests/limits.ts';
import { OpenRequests } from './requests/open-requests.ts';
import { RateLimiter } from './requests/rate-limiter.ts';

const ORIGIN = 'http://127.0.0.1:4517';
const CALLER: Caller = { name: 'agent:scout', kinds: ['agent'], grants: [], method: 'token' };
/** Other work may keep the machine busy. */
const PATIENCE = { timeout: 60_000 };

/** An application with three operations, and at most one request of a principal in progress. */
function appWith(run: () => Promise<Answer>, requestMs = 60_000) {
  const lines: string[] = [];
  const hosts = new Set(['127.0.0.1:4517']);
  const limits = { ...DEFAULT_LIMITS, concurrency: 1 };
  const declared = {
    method: 'get',
    summary: 'For a test.',
    kinds: ANYBODY,
    answer: z.any(),
  } as const;
  const app = createApp({
    service: {} as never,
    operations: [
      operation({ ...declared, id: 'test.run', path: '/v1/run', run }),
      operation({ ...declared, id: 'test.post', method: 'post', path: '/v1/run', run }),
      operation({
        ...declared,
        id: 'test.none',
        path: '/v1/none',
        run: async () => ({ body: {} }),
      }),
    ],
    authenticator: {
      callerOf: async () => CALLER,
      credentialOf: () => ({ kind: 'token', text: '' }),
    } as never,
    standings: { callerNow: async () => CALLER } as never,
    limiter: new RateLimiter(limits, () => performance.now()),
    backlog: new Backlog(limits.backlog, () => performance.now()),
    limits,
    requestMs,
    addresses: { origin: ORIGIN, hosts },
    logger: new Logger(
      (line) => lines.push(line),
      () => '',
    ),
    metrics: new Metrics(),
    stopping: new AbortController().signal,
    open: new OpenRequests(),
  });
  const ask = async (name: string, more: object = {}, method = 'GET') => {
    const headers = { host: '127.0.0.1:4517', ...more };
    return app.fetch(new Request(`${ORIGIN}/v1/${name}`, { method, headers }));
  };
  const isFree = async () => expect((await ask('none')).status).toBe(200);
  const isFull = async () => expect((await ask('none')).status).toBe(429);
  return { app, hosts, ask, isFree, isFull, lines };
}

test('only a large answer of a GET is compressed, and its tag is weak', async () => {
  let body: object = { text: 'x'.repeat(5_000) };
  const { ask } = appWith(async () => ({ body, etag: 'tag' }));
  const gzip = { 'accept-encoding': 'br, gzip' };
  const coded = async (headers: object, method?: string) => {
    const answer = await ask('run', headers, method);
    const bytes = Buffer.from(await answer.arrayBuffer());
    const coding = answer.headers.get('content-encoding');
    const text = coding === 'gzip' ? gunzipSync(bytes) : bytes;
    expect(JSON.parse(text.toString())).toEqual(body);
    return [coding, answer.headers.get('etag'), answer.headers.get('vary')];
  };
  const plain = [null, '"tag"', null];
  expect(await coded(gzip)).toEqual(['gzip', 'W/"tag"', 'accept-encoding']);
  expect(await coded({})).toEqual(plain);
  expect(await coded(gzip, 'POST')).toEqual(plain);
  expect((await ask('run', { ...gzip, 'if-none-match': 'W/"tag"' })).status).toBe(304);
  body = { text: 'x' };
  expect(await coded(gzip)).toEqual(plain);
});

test('a late answer is a time-out, and its work counts until its end', async () => {
  const work = Promise.withResolvers<Answer>();
  const { ask, isFree, isFull } = appWith(() => work.promise, 10);
  const answer = await ask('run');
  expect(answer.status).toBe(408);
  expect(await answer.json()).toMatchObject({ code: 'request_timeout', retryable: true });
  await isFull();
  work.resolve({ body: {} });
  await vi.waitFor(isFree, PATIENCE);
});

test('a fault after the time-out is in the log', async () => {
  const work = Promise.withResolvers<Answer>();
  const { ask, lines } = appWith(() => work.promise, 10);
  await ask('run');
  work.reject(new Error('broken'));
  await vi.waitFor(() => expect(lines.join('')).toContain('broken'), PATIENCE);
});

test('a stream counts until its end', async () => {
  const { ask, isFree, isFull } = appWith(async () => ({ lines: pieces(3) }));
  const answer = await ask('run');
  await isFull();
  expect(await answer.text()).toBe('0\n1\n2\n');
  await isFree();
});

test('a stream that fails or is cancelled does not count any more', async () => {
  const failing = appWith(async () => ({ lines: broken() }));
  await expect((await failing.ask('run')).text()).rejects.toThrow();
  await failing.isFree();
  const left = appWith(async () => ({ lines: pieces() }));
  await (await left.ask('run')).body?.cancel();
  await left.isFree();
});

test('a client that hangs up ends the reading of its export', async () => {
  const state = { ended: false };
  const { app, hosts, isFree } = appWith(async () => ({
    lines: pieces(Number.POSITIVE_INFINITY, state),
  }));
  const port = await listen(app);
  hosts.add(`127.0.0.1:${port}`);
  const client = new AbortController();
  const answer = await fetch(`http://127.0.0.1:${port}/v1/run`, { signal: client.signal });
  expect(answer.status).toBe(200);
  await answer.body?.getReader().read();
  client.abort();
  await vi.waitFor(() => expect(state.ended).toBe(true), PATIENCE);
  await isFree();
});

async function* pieces(
  count = Number.POSITIVE_INFINITY,
  state?: { ended: boolean },
): AsyncGenerator<string> {
  try {
    for (let n = 0; n < count; n++)
      yield count === Number.POSITIVE_INFINITY ? 'x'.repeat(65_536) : `${n}\n`;
  } finally {
    if (state !== undefined) state.ended = true;
  }
}

async function* broken(): AsyncGenerator<string> {
  yield 'first\n';
  throw new Error('the store is gone');
}

async function listen(app: Hono): Promise<number> {
  const server = createAdaptorServer({ fetch: app.fetch }) as Server;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}
