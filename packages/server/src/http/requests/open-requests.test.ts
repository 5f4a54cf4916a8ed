import { expect, test } from 'vitest';
import { OpenRequests } from './open-requests.ts';

const LONG_MS = 60_000;

test('open requests end with the error, and answered ones keep their answer', async () => {
  const open = new OpenRequests();
  const hanging = open.run(new Promise(() => undefined), LONG_MS);
  expect(await open.run(Promise.resolve(1), LONG_MS)).toBe(1);
  await expect(open.run(Promise.reject(new Error('of its own')), LONG_MS)).rejects.toThrow(
    'of its own',
  );
  open.end(new Error('the server stops'));
  await expect(hanging).rejects.toThrow('the server stops');
});

test('the end of open requests comes with the last answer', async () => {
  const open = new OpenRequests();
  const work = Promise.withResolvers<number>();
  const request = open.run(work.promise, LONG_MS);
  let isEnded = false;
  const ended = open.ended().then(() => {
    isEnded = true;
  });
  await new Promise(setImmediate);
  expect(isEnded).toBe(false);
  work.resolve(1);
  expect(await request).toBe(1);
  await ended;
  await new OpenRequests().ended();
});

test('work that fails after the end of its request is not reported again', async () => {
  const open = new OpenRequests();
  const work = Promise.withResolvers<void>();
  const request = open.run(work.promise, LONG_MS);
  open.end(new Error('the server stops'));
  await expect(request).rejects.toThrow('the server stops');
  work.reject(new Error('too late'));
  await new Promise(setImmediate);
});

test('a request without an answer in time has an unknown outcome', async () => {
  const open = new OpenRequests();
  const refused = open.run(new Promise(() => undefined), 5);
  await expect(refused).rejects.toMatchObject({ code: 'request_timeout', retryable: true });
  await expect(refused).rejects.toThrow(/outcome is unknown.*same idempotency key/);
});
