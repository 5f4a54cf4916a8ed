import { expect, test } from 'vitest';
import { unlessAborted } from './promises.ts';

test('work that never ends is given up, and also with a signal that has ended', async () => {
  const stop = new AbortController();
  const waiting = unlessAborted(new Promise(() => undefined), stop.signal);
  const reason = new Error('stopped');
  stop.abort(reason);
  await expect(waiting).rejects.toBe(reason);
  await expect(unlessAborted(new Promise(() => undefined), stop.signal)).rejects.toBe(reason);
});

test('the result and the error of the work come through', async () => {
  const { signal } = new AbortController();
  expect(await unlessAborted(Promise.resolve(1), signal)).toBe(1);
  expect(await unlessAborted(Promise.resolve(2), undefined)).toBe(2);
  await expect(unlessAborted(Promise.reject(new Error('no')), signal)).rejects.toThrow('no');
});
