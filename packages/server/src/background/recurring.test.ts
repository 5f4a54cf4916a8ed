import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Recurring } from './recurring.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test.each([
  [
    'throws',
    () => {
      throw new Error('no space');
    },
  ],
  [
    'rejects',
    async () => {
      throw new Error('no space');
    },
  ],
])('work that %s is reported each time, and started again', async (_, work) => {
  const failures: unknown[] = [];
  const recurring = new Recurring(10, work, (error) => failures.push(error));
  await vi.advanceTimersByTimeAsync(35);
  expect(failures).toEqual([new Error('no space'), new Error('no space'), new Error('no space')]);
  await recurring.stop();
  await vi.advanceTimersByTimeAsync(35);
  expect(failures).toHaveLength(3);
});

test('work in progress is not started twice, and the end waits for it', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  let begun = 0;
  const recurring = new Recurring(
    10,
    () => {
      begun += 1;
      return promise;
    },
    () => undefined,
  );
  const first = recurring.run();
  await vi.advanceTimersByTimeAsync(35);
  expect([begun, recurring.run() === first]).toEqual([1, true]);
  let hasStopped = false;
  const stopped = recurring.stop().then(() => {
    hasStopped = true;
  });
  await vi.advanceTimersByTimeAsync(10);
  expect(hasStopped).toBe(false);
  resolve();
  await stopped;
  expect(begun).toBe(1);
});

test('a wake during a run causes one more run, and none after the end', async () => {
  let running = Promise.withResolvers<void>();
  let begun = 0;
  const work = (): Promise<void> => {
    begun += 1;
    return running.promise;
  };
  const recurring = new Recurring(1_000_000, work, () => undefined);
  recurring.wake();
  recurring.wake();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(begun).toBe(1);
  recurring.wake();
  recurring.wake();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(begun).toBe(1);
  running.resolve();
  running = Promise.withResolvers();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(begun).toBe(2);
  recurring.wake();
  await vi.advanceTimersByTimeAsync(1_000);
  const stopped = recurring.stop();
  running.resolve();
  await stopped;
  await vi.advanceTimersByTimeAsync(1_000);
  expect(begun).toBe(2);
});
