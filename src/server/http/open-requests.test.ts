import { expect, test } from 'vitest';
import { OpenRequests } from './open-requests.ts';

test('open requests end with the error, and answered ones keep their answer', async () => {
  const open = new OpenRequests();
  const hanging = open.run(new Promise(() => undefined));
  expect(await open.run(Promise.resolve(1))).toBe(1);
  await expect(open.run(Promise.reject(new Error('of its own')))).rejects.toThrow('of its own');
  open.end(new Error('the server stops'));
  await expect(hanging).rejects.toThrow('the server stops');
});

test('work that fails after the end of its request is not reported again', async () => {
  const open = new OpenRequests();
  const work = Promise.withResolvers<void>();
  const request = open.run(work.promise);
  open.end(new Error('the server stops'));
  await expect(request).rejects.toThrow('the server stops');
  work.reject(new Error('too late'));
  await new Promise(setImmediate);
});
