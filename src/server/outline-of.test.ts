import { expect, test } from 'vitest';
import { outlineOf } from './outline-of.ts';

const MEMBERS = 5_000;

/** A large value, with members that are short and others that are not. */
const large = Object.fromEntries(
  Array.from({ length: MEMBERS }, (_, n) => [`m${n}`, n % 2 === 0 ? { n } : { text: 'x'.repeat(600), n }]),
);

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
