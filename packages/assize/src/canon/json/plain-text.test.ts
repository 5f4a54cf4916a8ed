import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { jsonValue } from '../../../../../tests/json-values.ts';
import { canonFault } from '../../../../../tests/support/canon-fault.ts';
import { thrownBy } from '../../../../../tests/thrown-by.ts';
import { canonicalize } from './canonicalize.ts';
import { copyJson } from './copy.ts';
import { plainText } from './plain-text.ts';

test('returns the text of canonicalize for any field order', () => {
  fc.assert(
    fc.property(jsonValue, (value) => {
      expect(plainText(value)).toBe(canonicalize(value));
      expect(plainText(copyJson(value))).toBe(canonicalize(value));
    }),
    { numRuns: 3_000 },
  );
});

test.each<[unknown, string]>([
  [{ a: undefined }, 'undefined'],
  [{ a: [1, undefined] }, 'undefined'],
  [{ a: Number.NaN }, 'NaN'],
  [{ a: Number.POSITIVE_INFINITY }, 'Infinity'],
  [{ a: 2 ** 53 }, 'unsafe integer'],
  [{ a: 1n }, 'bigint'],
  [{ a: () => 1 }, 'function'],
  [{ a: Symbol('s') }, 'symbol'],
  [{ a: new Date(0) }, 'Date'],
  [{ a: new Map([[1, 2]]) }, 'Map'],
  [{ a: '\ud800' }, 'lone surrogate'],
  [{ '\udc00': 1 }, 'lone surrogate in a name'],
  [new Array(2), 'hole'],
  ['x'.repeat(1_048_575), 'one byte too many'],
  [{ a: 'é'.repeat(524_288) }, 'two bytes a character'],
  [nested(65), 'too deep'],
  [new Array(262_144).fill(0), 'too many nodes'],
])('refuses the values that canonicalize refuses: %#', (value) => {
  expect(thrownBy(() => plainText(value)).message).toBe(
    thrownBy(() => canonicalize(value)).message,
  );
});

test('an escaped surrogate pair in a text is not a lone surrogate', () => {
  expect(plainText({ a: '\\ud800', b: '😀' })).toBe(canonicalize({ a: '\\ud800', b: '😀' }));
});

test('accepts values exactly at the limits', () => {
  for (const value of ['x'.repeat(1_048_574), nested(64), new Array(262_143).fill(0)]) {
    expect(plainText(value)).toBe(canonicalize(value));
  }
});

function nested(depth: number): unknown {
  return depth === 0 ? 0 : [nested(depth - 1)];
}

test('array subclasses and values with toJSON are left to canonicalize', () => {
  class Sly extends Array {
    toJSON(): unknown {
      return [1];
    }
  }
  expect(canonFault(thrownBy(() => plainText({ list: Sly.from([2]) })))).toBe('class_instance');
  for (const prototype of [Array.prototype, Object.prototype]) {
    Object.defineProperty(prototype, 'toJSON', { value: () => 'said', configurable: true });
    try {
      expect(plainText({ list: [1] })).toBe('{"list":[1]}');
    } finally {
      Reflect.deleteProperty(prototype, 'toJSON');
    }
  }
});
