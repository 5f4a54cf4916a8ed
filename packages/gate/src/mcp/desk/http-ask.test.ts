import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { httpAsk } from './http-ask.ts';

async function serving(answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test('a request has its token and its body, and its answer is JSON', async () => {
  const url = await serving((request, response) => {
    let text = '';
    request.on('data', (chunk) => (text += String(chunk)));
    request.on('end', () =>
      response.end(JSON.stringify([request.url, request.headers.authorization, text])),
    );
  });
  const ask = httpAsk(url, 'secret');
  const answer = await ask('/v1/a?b=c', { method: 'POST', headers: {}, body: '"é"' });
  expect([answer.ok, answer.status]).toEqual([true, 200]);
  expect(await answer.json()).toEqual(['/v1/a?b=c', 'Bearer secret', '"é"']);
});

test('a redirect is not followed, so the token goes nowhere else', async () => {
  const asked: string[] = [];
  const other = await serving((request, response) => {
    asked.push(request.headers.authorization ?? '');
    response.end('{}');
  });
  const url = await serving((_, response) => response.writeHead(307, { location: other }).end());
  const { ok, status } = await httpAsk(url, 'secret')('/', { method: 'GET', headers: {} });
  expect([ok, status, asked]).toEqual([false, 307, []]);
});

test('a lost connection and an abort are errors', async () => {
  const url = await serving((request, response) => {
    if (request.url === '/cut') response.destroy();
  });
  const ask = httpAsk(url, 'secret');
  await expect(ask('/cut', { method: 'GET', headers: {} })).rejects.toThrow();
  const leaves = new AbortController();
  const lost = ask('/never', { method: 'GET', headers: {}, signal: leaves.signal });
  leaves.abort();
  await expect(lost).rejects.toThrow('aborted');
});
