import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { jsonValue } from '../../../../../tests/json-values.ts';
import { canonicalize } from './canonicalize.ts';
import { copyJson } from './copy.ts';
import { readCanonical } from './read-canonical.ts';

test('a copy has the same canonical text, plain prototypes, and shares nothing', () => {
  fc.assert(
    fc.property(jsonValue, (value) => {
      const copied = copyJson(value);
      expect(canonicalize(copied)).toBe(canonicalize(value));
      const originals = containersOf(value);
      for (const container of containersOf(copied)) {
        expect(originals.has(container)).toBe(false);
        expect(Object.getPrototypeOf(container)).toBe(
          Array.isArray(container) ? Array.prototype : Object.prototype,
        );
        for (const member of Object.values(Object.getOwnPropertyDescriptors(container))) {
          expect(member.writable).toBe(true);
          expect(Object.is(member.value, -0)).toBe(false);
        }
      }
    }),
    { numRuns: 2_000 },
  );
});

test('the original is unchanged, and the copy reads as its canonical text', () => {
  fc.assert(
    fc.property(jsonValue, (value) => {
      const before = JSON.stringify(value);
      expect(JSON.stringify(copyJson(value))).toBe(
        JSON.stringify(readCanonical(canonicalize(value))),
      );
      expect(JSON.stringify(value)).toBe(before);
    }),
  );
});

test('a frozen value gives a copy that can be changed', () => {
  const copied = copyJson(Object.freeze({ list: Object.freeze([1, 2]) })) as {
    list: number[];
    more?: number;
  };
  copied.list.push(3);
  copied.more = 1;
  expect(copied).toEqual({ list: [1, 2, 3], more: 1 });
});

test('__proto__ stays a member, of plain objects and of Proxies', () => {
  const value = JSON.parse('{"a":{"__proto__":{"polluted":true}},"__proto__":-0}') as object;
  for (const given of [value, new Proxy(value, {})]) {
    const copied = copyJson(given) as Record<string, Record<string, unknown>>;
    expect(Object.getPrototypeOf(copied)).toBe(Object.prototype);
    expect(Object.keys(copied)).toEqual(['__proto__', 'a']);
    expect(Object.getOwnPropertyDescriptor(copied, '__proto__')?.value).toBe(0);
    expect(Object.getPrototypeOf(copied['a'])).toBe(Object.prototype);
    expect(Object.keys(copied['a']!)).toEqual(['__proto__']);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  }
});

test('each field of a Proxy is read once, and that value is checked', () => {
  const asked: PropertyKey[] = [];
  const sly = new Proxy(
    { a: 1, b: 2 },
    {
      getOwnPropertyDescriptor: (target, name) => {
        asked.push(name);
        return Reflect.getOwnPropertyDescriptor(target, name);
      },
      get: () => Number.NaN,
    },
  );
  expect(copyJson(sly)).toEqual({ a: 1, b: 2 });
  expect(asked).toEqual(['a', 'b']);
});

test('a shared object is copied each time it is met', () => {
  const leaf = { n: 1 };
  const [first, second] = copyJson([leaf, leaf]) as unknown[];
  expect(first).toEqual(second);
  expect(first).not.toBe(second);
});

test('scalars are themselves', () => {
  for (const value of [null, true, false, 1, 0.5, '', 'text']) expect(copyJson(value)).toBe(value);
  expect(Object.is(copyJson(-0), 0)).toBe(true);
});

function containersOf(value: unknown, found: Set<object> = new Set()): Set<object> {
  if (typeof value !== 'object' || value === null) return found;
  found.add(value);
  for (const inner of Object.values(value)) containersOf(inner, found);
  return found;
}
