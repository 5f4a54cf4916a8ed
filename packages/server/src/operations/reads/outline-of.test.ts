import fc from 'fast-check';
import { expect, test } from 'vitest';
import { jsonValue } from '../../../../../tests/json-values.ts';
import { isWithin } from './is-within.ts';
import { outlineOf } from './outline-of.ts';

const MEMBERS = 5_000;

/** A large value, with members that are short and others that are not. */
const large = Object.fromEntries(
  Array.from({ length: MEMBERS }, (_, n) => [
    `m${n}`,
    n % 2 === 0 ? { n } : { text: 'x'.repeat(600), n },
  ]),
);

test('pages have the order and the count of a sort of all keys', () => {
  const key = fc.oneof(fc.nat({ max: 300 }).map(String), fc.string({ maxLength: 4 }));
  const query = fc.record({
    after: fc.option(key, { nil: undefined }),
    text: fc.option(fc.constantFrom('1', 'A', ''), { nil: undefined }),
    limit: fc.integer({ min: 1, max: 9 }),
  });
  fc.assert(
    fc.property(fc.uniqueArray(key, { maxLength: 60 }), query, (names, { after, text, limit }) => {
      const value = {
        ...Object.fromEntries(names.map((one) => [one, 1])),
        long: 'x'.repeat(70_000),
      };
      const all = Object.keys(value)
        .sort()
        .filter((one) => one.toLowerCase().includes(text?.toLowerCase() ?? ''));
      const rest = all.filter((one) => after === undefined || one > after);
      const { count, members, next } = outlineOf(value, { after, text, limit });
      expect([count, members?.map((one) => one.key)]).toEqual([all.length, rest.slice(0, limit)]);
      expect(next).toBe(rest.length > limit ? rest[limit - 1] : undefined);
    }),
  );
});

test('the size of a value is seen without reading more than the limit', () => {
  fc.assert(
    fc.property(jsonValue, fc.nat({ max: 60 }), (value, most) => {
      if (JSON.stringify(value).length <= most) expect(isWithin(value, most)).toBe(true);
    }),
  );
  let reads = 0;
  const get = (target: object, key: PropertyKey): unknown => {
    reads += 1;
    return Reflect.get(target, key);
  };
  const items = new Proxy(
    Array.from({ length: 100_000 }, () => 'text'),
    { get },
  );
  expect(isWithin(items, 700)).toBe(false);
  // Each item takes seven characters.
  expect(reads).toBe(100);
});

test('a value that is not large is whole', () => {
  expect(outlineOf({ b: [1], a: 'x' }, { limit: 10 })).toEqual({ value: { a: 'x', b: [1] } });
  expect(outlineOf(null, { limit: 10 })).toEqual({ value: null });
});

test('pages of a large value have each member once, in order', () => {
  const keys: string[] = [];
  let after: string | undefined;
  do {
    const { members = [], next, count, value } = outlineOf(large, { after, limit: 700 });
    expect({ count, value }).toEqual({ count: MEMBERS, value: undefined });
    keys.push(...members.map(({ key }) => key));
    after = next;
  } while (after !== undefined);
  expect(keys).toEqual(Object.keys(large).sort());
});

test('a short member has its value, and a long one the number of its members', () => {
  const { members } = outlineOf(large, { text: 'M10', limit: 2 });
  expect(members).toEqual([
    { key: 'm10', value: { n: 10 } },
    { key: 'm100', value: { n: 100 } },
  ]);
  expect(outlineOf(large, { text: 'm101', limit: 1 }).members).toEqual([{ key: 'm101', count: 2 }]);
});

test('a large list is in the order of its items', () => {
  const list = Array.from({ length: 20_000 }, (_, n) => `item ${n}`);
  const { members = [], next } = outlineOf(list, { after: '9', limit: 2 });
  expect([members.map(({ key }) => key), next]).toEqual([['10', '11'], '11']);
});
