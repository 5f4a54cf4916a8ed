import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { generateKeys } from 'assize/internal/canon';
import { afterEach, expect, test } from 'vitest';
import { FORWARDED, ForwardMark } from './forward-mark.ts';
import { Forwarder } from './forwarder.ts';

const MARK = new ForwardMark(generateKeys(new Uint8Array(32).fill(1)));
const BODY = Buffer.from('{"amount":1}');
const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

type Answer = (request: IncomingMessage, response: ServerResponse, n: number) => void;

/** A server that answers the nth request as told, and the forwarder of another one. */
async function pair(answer: Answer) {
  const asked: IncomingMessage[] = [];
  const server: Server = createServer((request, response) => {
    asked.push(request);
    request.resume().once('end', () => answer(request, response, asked.length));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const forwarder = new Forwarder(MARK);
  closers.push(() => {
    forwarder.close();
    server.closeAllConnections();
    server.close();
  });
  const gone = new AbortController();
  const client = new AbortController();
  const member = {
    id: 'b',
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    gone: gone.signal,
  };
  const send = (headers: Record<string, string> = {}) => {
    const request = new Request('http://a.example/v1/trajectories/t/proposals?x=1', {
      method: 'POST',
      headers,
    });
    return forwarder.send(member, { request, requestId: 'id', body: BODY, signal: client.signal });
  };
  return { asked, send, gone, client, server };
}

const json = (response: ServerResponse, status: number, body: object): void => {
  response
    .writeHead(status, { 'content-type': 'application/json', 'x-own': 'kept' })
    .end(JSON.stringify(body));
};

test('the request arrives whole, and the answer comes back whole', async () => {
  const texts: string[] = [];
  const { asked, send } = await pair((request, response) => {
    texts.push(`${request.method} ${request.url}`);
    json(response, 202, { ruling: 'escalated' });
  });
  const forged = {
    authorization: 'Bearer t',
    connection: 'upgrade',
    'transfer-encoding': 'chunked',
    [FORWARDED]: 'x',
  };
  const answer = await send(forged);
  expect([answer!.status, answer!.headers.get('x-own'), await answer!.json()]).toEqual([
    202,
    'kept',
    { ruling: 'escalated' },
  ]);
  expect(texts).toEqual(['POST /v1/trajectories/t/proposals?x=1']);
  const { headers } = asked[0]!;
  expect(headers).toMatchObject({
    authorization: 'Bearer t',
    'content-length': String(BODY.byteLength),
  });
  expect(headers['transfer-encoding']).toBeUndefined();
  expect(headers[FORWARDED]).toBe(MARK.of('id', 'POST', '/v1/trajectories/t/proposals?x=1'));
});

test.each([
  [503, 'stopping', undefined],
  [421, 'bad_host', undefined],
  [404, 'unknown_operation', undefined],
  [503, 'store_locked', 503],
  [404, 'not_found', 404],
  [500, 'internal', 500],
])('an answer %i %s: forwarded only if the server executed it', async (status, code, forwarded) => {
  const { send, asked } = await pair((_, response) => json(response, status, { code }));
  expect((await send())?.status).toBe(forwarded);
  expect(asked).toHaveLength(1);
});

test('a server that dies in the middle of an answer is asked once', async () => {
  const { send, asked } = await pair((_, response, n) => {
    if (n <= 4) return json(response, 200, {});
    response.writeHead(200, { 'content-length': '100' }).write('{');
    setImmediate(() => response.destroy());
  });
  await Promise.all([1, 2, 3, 4].map(() => send()));
  expect(await send()).toBeUndefined();
  expect(asked).toHaveLength(5);
});

test('a server that cuts each request is asked twice at most', async () => {
  const { send, asked } = await pair((request, response, n) => {
    if (n <= 4) json(response, 200, {});
    else request.socket.destroy();
  });
  await Promise.all([1, 2, 3, 4].map(() => send()));
  expect(await send()).toBeUndefined();
  expect(asked.length).toBeLessThanOrEqual(6);
});

test('a server that is gone, and a client that leaves, end the request', async () => {
  for (const ended of ['gone', 'client'] as const) {
    const { send, asked, ...ends } = await pair(() => undefined);
    const answer = send();
    await expect.poll(() => asked.length).toBe(1);
    ends[ended].abort();
    expect(await answer).toBeUndefined();
  }
});

test('a server that does not listen has no answer', async () => {
  const { send, server } = await pair(() => undefined);
  server.close();
  expect(await send()).toBeUndefined();
});
