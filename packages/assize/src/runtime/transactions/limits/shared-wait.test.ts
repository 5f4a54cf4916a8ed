import { expect, test } from 'vitest';
import { SharedWait } from './shared-wait.ts';

/** A value that is made on request, and a request that can be cancelled. */
function stage() {
  const done = Promise.withResolvers<string>();
  let signal: AbortSignal | undefined;
  const wait = new SharedWait<string>((given) => {
    signal = given;
    given.addEventListener('abort', () => done.reject(given.reason));
    return done.promise;
  });
  return { wait, make: done.resolve, isGivenUp: () => signal!.aborted };
}

test('each waiter is ended only by its own signal; the others get the value', async () => {
  const { wait, make, isGivenUp } = stage();
  const [first, second] = [new AbortController(), new AbortController()];
  const waits = [wait.wait(first.signal), wait.wait(second.signal), wait.wait()];
  first.abort(new Error('enough'));
  await expect(waits[0]).rejects.toThrow('enough');
  second.abort(new Error('me too'));
  await expect(waits[1]).rejects.toThrow('me too');
  expect([isGivenUp(), wait.value]).toEqual([false, undefined]);
  make('it');
  expect(await waits[2]).toBe('it');
  expect([wait.value, wait.hasFailed, wait.isAbandoned]).toEqual(['it', false, false]);
  // The value is available: no caller waits.
  expect(await wait.wait(first.signal)).toBe('it');
  wait.abandon(new Error('late'));
  expect([isGivenUp(), await wait.wait()]).toEqual([false, 'it']);
});

test('a wait that all waiters have left is abandoned', async () => {
  const { wait, isGivenUp } = stage();
  const controllers = [new AbortController(), new AbortController()];
  const waits = controllers.map(({ signal }) => wait.wait(signal).catch(() => 'gone'));
  controllers[0]!.abort();
  await waits[0];
  expect(isGivenUp()).toBe(false);
  controllers[1]!.abort();
  await waits[1];
  expect(isGivenUp()).toBe(true);
  await wait.settled();
  expect([wait.hasFailed, wait.isAbandoned]).toEqual([true, false]);
});

test('a new waiter on an abandoned wait receives the reason', async () => {
  const { wait } = stage();
  const reason = new Error('closed');
  const waits = [wait.wait(), wait.wait(new AbortController().signal)];
  wait.abandon(reason);
  for (const each of waits) await expect(each).rejects.toBe(reason);
  await expect(wait.wait()).rejects.toBe(reason);
});

test('a value that arrives after abandonment is still available', async () => {
  const done = Promise.withResolvers<string>();
  const wait = new SharedWait(() => done.promise);
  const waiting = wait.wait().catch((error: Error) => error.message);
  wait.abandon(new Error('closed'));
  expect([await waiting, wait.isAbandoned]).toEqual(['closed', true]);
  done.resolve('it');
  await wait.settled();
  expect([wait.value, wait.isAbandoned, await wait.wait()]).toEqual(['it', false, 'it']);
});
