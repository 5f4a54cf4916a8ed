import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { OneAtATime } from './one-at-a-time.ts';

test('works run one after the other, also after a failure', async () => {
  const works = new OneAtATime();
  const { signal } = new AbortController();
  let running = 0;
  const most: number[] = [];
  const work = async (n: number): Promise<number> => {
    most.push(++running);
    await nextTurn();
    running--;
    if (n === 1) throw new Error('the work fails');
    return n;
  };
  const ends = await Promise.allSettled([0, 1, 2, 3].map((n) => works.run(signal, () => work(n))));
  expect(ends.map(({ status }) => status)).toEqual([
    'fulfilled',
    'rejected',
    'fulfilled',
    'fulfilled',
  ]);
  expect(most).toEqual([1, 1, 1, 1]);
});

test('a work that was given up meanwhile does not start', async () => {
  const works = new OneAtATime();
  const leaving = new AbortController();
  const first = works.run(new AbortController().signal, () => nextTurn('done'));
  let isBegun = false;
  const second = works.run(leaving.signal, async () => {
    isBegun = true;
  });
  leaving.abort();
  await expect(second).rejects.toThrow();
  expect(await first).toBe('done');
  expect(isBegun).toBe(false);
});
