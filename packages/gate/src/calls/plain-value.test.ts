/** Values that the ledger keeps as JSON, and gives back equal. */

import type { Json } from 'assize/internal/base';
import { expect, test } from 'vitest';
import { ofPlain, toPlain } from './index.ts';

test.each([
  ['nothing', undefined],
  ['null', null],
  ['a text', 'a'],
  ['an object', { a: [1, { b: null }], c: 'd' }],
  ['an object with the mark', { $: 'date', of: 5 }],
  ['an object with a member __proto__', JSON.parse('{"__proto__": {"a": 1}}')],
  ['a member without a value', { a: undefined }],
  ['a date', { at: new Date(5) }],
  ['a map of sets', new Map<unknown, unknown>([['a', new Set([1, new Date(2)])]])],
  ['bytes', { bytes: new Uint8Array([0, 255]) }],
  ['an address', new URL('https://example.com/a?b')],
  ['numbers', [0, -0, Number.NaN, Infinity, -Infinity, 2 ** 60, 1e-7, 12n]],
])('%s returns as it was', (_, value) => {
  const plain = toPlain(value);
  expect(plain).toBeDefined();
  expect(ofPlain(JSON.parse(JSON.stringify(plain)) as Json)).toStrictEqual(value);
});

const circle: Record<string, unknown> = {};
circle['circle'] = circle;

test.each([
  ['a function', { run: () => 1 }],
  ['a symbol', Symbol('s')],
  ['an object of a class', new (class Money {})()],
  ['an error', new Error('no')],
  ['a circle', circle],
  ['half of a character', '\ud800'],
  ['an invalid date', [new Date(Number.NaN)]],
  ['an object without a prototype', Object.create(null)],
  ['an array with holes', new Array(2)],
  ['a pattern', /a/],
  ['an array of another class', new Float64Array(1)],
  ['a buffer', Buffer.from('a')],
])('%s is not kept', (_, value) => {
  expect(toPlain(value)).toBeUndefined();
});

test('data of JSON is kept as it is', () => {
  const value = { paid: 5, to: ['bob'], note: null };
  expect(toPlain(value)).toStrictEqual(value);
});
