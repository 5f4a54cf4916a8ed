import { expect, test } from 'vitest';
import { LruCache } from './maps.ts';

test('it keeps the last used values, up to its limit', () => {
  const made: string[] = [];
  const cache = new LruCache<string>(3);
  const get = (key: string) =>
    cache.get(key, () => {
      made.push(key);
      return key.toUpperCase();
    });
  for (const key of ['a', 'b', 'c', 'a', 'd', 'a', 'c', 'b'])
    expect(get(key)).toBe(key.toUpperCase());
  expect(made).toEqual(['a', 'b', 'c', 'd', 'b']);
  expect(cache.size).toBe(3);
});

test('a value that failed to be created is not cached', () => {
  const cache = new LruCache<string>(3);
  expect(() =>
    cache.get('a', () => {
      throw new Error('no');
    }),
  ).toThrow('no');
  expect(cache.get('a', () => 'yes')).toBe('yes');
});
