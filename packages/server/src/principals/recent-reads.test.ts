import { expect, test } from 'vitest';
import { RecentReads } from './recent-reads.ts';

const FRESH_MS = 100;

function reads() {
  let now = 0;
  let value: string | undefined = 'first';
  let count = 0;
  const recent = new RecentReads(
    async () => {
      count += 1;
      return value;
    },
    FRESH_MS,
    () => now,
  );
  return {
    recent,
    count: () => count,
    pass: (ms: number) => (now += ms),
    write: (next: string | undefined) => {
      value = next;
    },
  };
}

test('a value counts for its time, and not longer', async () => {
  const { recent, count, pass, write } = reads();
  expect(await Promise.all([recent.get('a'), recent.get('a')])).toEqual(['first', 'first']);
  write('second');
  pass(FRESH_MS - 1);
  expect(await recent.get('a')).toBe('first');
  expect(count()).toBe(1);
  pass(1);
  expect(await recent.get('a')).toBe('second');
});

test('after a write of this process the next read is of the store', async () => {
  const { recent, write } = reads();
  const before = recent.get('a');
  write('second');
  recent.forget('a');
  expect(await before).toBe('first');
  expect(await recent.get('a')).toBe('second');
});

test('neither an absent value nor an error is kept', async () => {
  const { recent, count, write } = reads();
  write(undefined);
  expect(await recent.get('a')).toBeUndefined();
  expect(recent.size).toBe(0);
  await recent.get('a');
  expect(count()).toBe(2);
  const failing = new RecentReads(async () => {
    throw new Error('gone');
  }, FRESH_MS);
  await expect(failing.get('a')).rejects.toThrow('gone');
  expect(failing.size).toBe(0);
});
