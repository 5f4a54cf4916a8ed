/** Results of tools as JSON: values return equal, or are not kept. */
import { expect, test } from 'vitest';
import { fromPlainJson, toPlainJson } from './plain-json.ts';

test.each([
  ['JSON', { a: [1, 'b', null, true], c: {} }],
  ['nothing', undefined],
  ['members without a value', { a: undefined, b: [undefined] }],
  ['a date', { at: new Date(5) }],
  ['a big number', [12n, -0, Number.NaN, Number.POSITIVE_INFINITY]],
  ['a map and a set', { map: new Map([[{ a: 1 }, new Set([1n])]]) }],
  ['bytes', { type: 'image', image: { data: new Uint8Array([1, 2, 255]) } }],
  ['a member with the mark', { $: 'date', of: 'x', more: { $: 1 } }],
  ['a member of the name __proto__', JSON.parse('{"__proto__":{"a":1}}')],
])('%s returns as it was', (_, value) => {
  const json = JSON.parse(JSON.stringify(toPlainJson(value)));
  expect(fromPlainJson(json)).toEqual(value);
});

const circle: Record<string, unknown> = {};
circle['circle'] = circle;

test.each([
  ['a function', { f: () => 1 }],
  ['an object of a class', new URL('http://a/')],
  ['an error', new Error('no')],
  ['a circle', circle],
  ['half of a character', '\ud800'],
  ['a symbol', { s: Symbol('s') }],
  ['a member named by a symbol', { [Symbol('s')]: 1 }],
])('%s is not kept', (_, value) => {
  expect(toPlainJson(value)).toBeUndefined();
});
