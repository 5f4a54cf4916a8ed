import { expect, test } from 'vitest';
import { LruCache } from './lru-cache.ts';

test('it keeps what was used last, and no more than it may', () => {
  const made: string[] = [];
  const cache = new LruCache<string>(3);
  const get = (key: string) =>
    cache.get(key, () => {
      made.push(key);
      return key.toUpperCase();
    });
  for (const key of ['a', 'b', 'c', 'a', 'd', 'a', 'c', 'b']) expect(get(key)).toBe(key.toUpperCase());
  expect(made).toEqual(['a', 'b', 'c', 'd', 'b']);
  expect(cache.size).toBe(3);
});

test('what could not be made is not kept', () => {
  const cache = new LruCache<string>(3);
  expect(() =>
    cache.get('a', () => {
      throw new Error('no');
    }),
  ).toThrow('no');
  expect(cache.get('a', () => 'yes')).toBe('yes');
});
