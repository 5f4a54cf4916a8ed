import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cases } from '../../../../../tests/support/cases.ts';
import { idempotencyKeyOf } from './headers.ts';

const keyOf = (...values: readonly string[]) =>
  idempotencyKeyOf(
    new Headers(values.map((value): [string, string] => ['Idempotency-Key', value])),
  );
const quoted = (key: string) => `"${key.replaceAll(/["\\]/g, '\\$&')}"`;
const visible = fc.string({
  unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)),
  minLength: 1,
});

test('a key is the same bare and in quotes', () => {
  fc.assert(
    fc.property(visible, (key) => {
      expect(keyOf(quoted(key))).toBe(key);
      if (!key.startsWith('"')) expect(keyOf(key)).toBe(key);
    }),
    { numRuns: cases(300) },
  );
  expect(keyOf('"a, b"')).toBe('a, b');
  expect(keyOf('""')).toBe('');
  expect(keyOf()).toBe('');
});

test('several headers are refused, also equal ones, and so is half a string', () => {
  fc.assert(
    fc.property(visible, visible, fc.boolean(), (one, other, isEqual) => {
      const twice = [one, isEqual ? one : other].map((key) =>
        key.startsWith('"') ? quoted(key) : key,
      );
      for (const values of [twice, twice.map(quoted)])
        expect(() => keyOf(...values)).toThrow(
          expect.objectContaining({ code: 'invalid_request' }),
        );
    }),
    { numRuns: cases(300) },
  );
  for (const half of ['"a', '"a" b', '"a";p=1', '"a\\b"'])
    expect(() => keyOf(half), half).toThrow('Idempotency-Key');
});
