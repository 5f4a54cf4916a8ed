/** Errors that leave it open if a call took effect. */
import { createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { isInterruption } from './index.ts';

test.each([
  ['an abort', new DOMException('stop', 'AbortError'), true],
  ['a time-out', AbortSignal.abort(new DOMException('late', 'TimeoutError')).reason, true],
  ['a connection that was reset', Object.assign(new Error('reset'), { code: 'ECONNRESET' }), true],
  [
    'a fetch whose socket closed',
    new TypeError('fetch failed', { cause: { code: 'UND_ERR_SOCKET' } }),
    true,
  ],
  ['a fetch that failed for no known reason', new TypeError('fetch failed'), true],
  [
    'a server that is not there',
    new TypeError('fetch failed', { cause: { code: 'ECONNREFUSED' } }),
    false,
  ],
  ['a proxy that waited too long', Object.assign(new Error('504'), { status: 504 }), true],
  [
    'a fault of a server, by axios',
    Object.assign(new Error('500'), { response: { status: 500 } }),
    true,
  ],
  ['a request that took too long', Object.assign(new Error('408'), { statusCode: 408 }), true],
  ['a request that a server refused', Object.assign(new Error('422'), { status: 422 }), false],
  [
    'an operation that a server does not have',
    Object.assign(new Error('501'), { status: 501 }),
    false,
  ],
  ['an error of the tool', new Error('no money'), false],
  ['another error of a type', new TypeError('x is not a function'), false],
  ['a text', 'AbortError', false],
])('%s', (_, error, isOpen) => {
  expect(isInterruption(error)).toBe(isOpen);
});

test('a reply that is lost leaves it open', async () => {
  const server = createServer((socket) => socket.once('data', () => socket.destroy()));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  onTestFinished(() => void server.close());
  const { port } = server.address() as { port: number };
  const error: unknown = await fetch(`http://127.0.0.1:${port}`, {
    method: 'POST',
    body: '{}',
  }).catch((thrown) => thrown);
  expect(isInterruption(error)).toBe(true);
});
