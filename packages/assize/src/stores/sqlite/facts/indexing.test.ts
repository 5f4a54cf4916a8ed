import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { IDLE_MS, Indexing, PART } from './indexing.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A queue in which each flush takes its maximum, unless the flush fails. */
function stage() {
  const queue = { waiting: 0, flushed: 0, looks: 0, isIdle: true, fails: false };
  const indexing = new Indexing(
    async (most) => {
      queue.flushed++;
      await undefined;
      if (queue.fails) throw new Error('the lock was not to be had');
      const taken = Math.min(queue.waiting, most);
      queue.waiting -= taken;
      return taken === most;
    },
    () => {
      queue.looks++;
      return queue.isIdle;
    },
  );
  /** `told`: the reported part. Changes that another process has written are not reported. */
  const write = (written: number, told = written): void => {
    queue.waiting += written;
    indexing.later(told);
  };
  return {
    queue,
    indexing,
    write,
    pass: (looks: number) => vi.advanceTimersByTimeAsync(looks * IDLE_MS),
  };
}

test('remaining texts are indexed one part at a time while no caller writes', async () => {
  const { queue, write, pass } = stage();
  queue.isIdle = false;
  write(10 * PART, PART);
  await pass(100);
  expect(queue).toMatchObject({ flushed: 1, waiting: 9 * PART });
  queue.isIdle = true;
  for (let left = 8; left >= 0; left--) {
    await pass(1);
    expect(queue.waiting).toBe(left * PART);
  }
  await pass(100);
  // The last flush finds an empty queue.
  expect(queue.flushed).toBe(11);
  const { looks } = queue;
  await pass(100);
  expect(queue.looks).toBe(looks);
});

test('remaining texts wait while callers write, even between two groups', async () => {
  const { queue, write, pass } = stage();
  write(3 * PART, PART);
  await pass(0);
  for (let n = 0; n < 10; n++) {
    write(1);
    await pass(1);
    expect(queue.flushed).toBe(1);
  }
  await pass(3);
  expect(queue.waiting).toBe(0);
});

test('texts written under load are indexed on arrival, one part per amount', async () => {
  const { queue, write, pass } = stage();
  queue.isIdle = false;
  for (let n = 0; n < 8; n++) {
    write(PART / 2);
    await pass(0);
  }
  expect(queue).toMatchObject({ flushed: 4, waiting: 0 });
});

test('large writes are indexed in equally large parts, one part at a time', async () => {
  const { queue, write, pass } = stage();
  queue.isIdle = false;
  for (let n = 0; n < 4; n++) {
    write(PART);
    await pass(0);
    expect(queue).toMatchObject({ flushed: n + 1, waiting: 0 });
  }
  write(4 * PART);
  await pass(0);
  expect(queue).toMatchObject({ flushed: 8, waiting: 0 });
});

test('a failed flush is restarted by the next write, and by nothing else', async () => {
  const { queue, write, pass } = stage();
  queue.fails = true;
  write(PART);
  await pass(100);
  expect(queue).toMatchObject({ flushed: 1, waiting: PART });
  queue.fails = false;
  write(1);
  await pass(100);
  expect(queue.waiting).toBe(0);
});

test('nothing is left to do after `end` or `caughtUp`', async () => {
  for (const over of ['end', 'caughtUp'] as const) {
    const { queue, indexing, write, pass } = stage();
    queue.isIdle = false;
    write(3 * PART, PART);
    await pass(1);
    indexing[over]();
    queue.isIdle = true;
    const { looks } = queue;
    await pass(100);
    expect(queue).toMatchObject({ flushed: 1, looks });
  }
});
