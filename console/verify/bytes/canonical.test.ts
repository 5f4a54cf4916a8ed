import { expect, test } from 'vitest';
import { BLOB, canonicalOf, NotCanonical, PAYLOAD, readCanonical } from './canonical.ts';

test.each([
  '{"":1,"__proto__":{"a":[]},"é":"\\u001f\\n","\u{10000}":null,"\ue000":true}',
  '[9007199254740991,0.000001,1e-7,1.25e-10,-5]',
  '"\u2028/\u007f"',
])('a canonical text is read, and written the same: %s', (text) => {
  expect(canonicalOf(readCanonical(text, PAYLOAD))).toBe(text);
});

test.each(['1.0', '1e2', '-0', '0.10', '1E-7', '1e-400', '9007199254740992', '1e30'])(
  'no canonical number: %s',
  (text) => {
    expect(() => readCanonical(text, PAYLOAD)).toThrow(NotCanonical);
  },
);

test.each([
  ['white space', '{"a": 1}'],
  ['a name twice', '{"a":1,"a":1}'],
  ['another order of names', '{"\ue000":1,"\u{10000}":1}'],
  ['an escape too much', '"\\u0041"'],
  ['a lone surrogate', '"\\ud800"'],
  ['something after the value', '1 '],
  ['no value', ''],
])('a text with %s is not canonical', (_what, text) => {
  expect(() => readCanonical(text, PAYLOAD)).toThrow(NotCanonical);
});

test('a text has at most 64 containers inside each other', () => {
  const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
  expect(readCanonical(nested(64), PAYLOAD)).toBeDefined();
  expect(() => readCanonical(nested(65), PAYLOAD)).toThrow(/nested/);
});

test('a payload has at most 262,144 values and 1 MiB', () => {
  const many = JSON.stringify(Array(262_144).fill(1));
  expect(readCanonical(many, BLOB)).toBeDefined();
  expect(() => readCanonical(many, PAYLOAD)).toThrow(/too many values/);
  const long = JSON.stringify('é'.repeat(524_288));
  expect(readCanonical(long, BLOB)).toBeDefined();
  expect(() => readCanonical(long, PAYLOAD)).toThrow(/too long/);
});
