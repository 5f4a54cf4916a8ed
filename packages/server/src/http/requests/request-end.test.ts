import { ServerError } from '@assize/command/operation';
import { expect, test, vi } from 'vitest';
import { RequestEnd } from './request-end.ts';

/** Other work may keep the machine busy. */
const PATIENCE = { timeout: 60_000 };

const STOPPING = new ServerError('stopping', 'The server is stopping.');
const LONG_MS = 60_000;

function ends() {
  return { client: new AbortController(), stopping: new AbortController() };
}

test.each(['client', 'stopping'] as const)('the end by the %s has a typed reason', (by) => {
  const { client, stopping } = ends();
  const end = new RequestEnd(client.signal, stopping.signal, LONG_MS);
  expect(end.signal.aborted).toBe(false);
  if (by === 'client') client.abort();
  else stopping.abort(STOPPING);
  expect(end.signal.reason).toMatchObject({ code: by === 'client' ? 'client_left' : 'stopping' });
  end.release();
});

test('a request without an answer in time ends', async () => {
  const { client, stopping } = ends();
  const end = new RequestEnd(client.signal, stopping.signal, 5);
  await vi.waitFor(
    () => expect(end.signal.reason).toMatchObject({ code: 'request_timeout' }),
    PATIENCE,
  );
});

test('an answered request is not ended later', () => {
  const { client, stopping } = ends();
  const end = new RequestEnd(client.signal, stopping.signal, LONG_MS);
  end.release();
  client.abort();
  stopping.abort(STOPPING);
  expect(end.signal.aborted).toBe(false);
});
