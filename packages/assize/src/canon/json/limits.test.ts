import { describe, expect, test } from 'vitest';
import { canonFault } from '../../../../../tests/support/canon-fault.ts';
import { thrownBy } from '../../../../../tests/thrown-by.ts';
import { canonicalize } from './canonicalize.ts';
import { copyJson } from './copy.ts';
import { type CanonLimits, DEFAULT_LIMITS } from './limits.ts';
import { parseCanonical } from './parse-canonical.ts';
import { parseStrict } from './parse-strict.ts';

test('the defaults do not change, because stored data depends on them', () => {
  expect(DEFAULT_LIMITS).toEqual({
    depthMax: 64,
    bytesMax: 1_048_576,
    nodesMax: 262_144,
    integers: 'safe',
    foreign: false,
  });
  expect(Object.isFrozen(DEFAULT_LIMITS)).toBe(true);
});

describe('a limit that would not limit is refused by everything that takes limits', () => {
  test.each<[string, Record<string, unknown>]>([
    ['NaN', { depthMax: Number.NaN }],
    ['no number', { bytesMax: '100' }],
    ['below zero', { nodesMax: -1 }],
    ['not whole', { nodesMax: 1.5 }],
    ['infinite', { bytesMax: Number.POSITIVE_INFINITY }],
    ['deeper than the stack', { depthMax: 1_001 }],
    ['an unknown word', { integers: 'all' }],
    ['no boolean', { foreign: 1 }],
    ['undefined', { depthMax: undefined }],
  ])('%s', (_name, given) => {
    const limits = given as Partial<CanonLimits>;
    for (const call of [
      () => canonicalize(1, limits),
      () => copyJson(1, limits),
      () => parseStrict('1', limits),
      () => parseCanonical('1', limits),
    ]) {
      const error = thrownBy(call);
      expect([canonFault(error), error.evidence['limit']]).toEqual([
        'bad_limits',
        Object.keys(given)[0],
      ]);
    }
  });
});

test('limits are those that there are when they are given', () => {
  const open = { depthMax: 1 };
  let depthMax = 1;
  const computed = Object.freeze({
    get depthMax() {
      return depthMax;
    },
  });
  const fixed = Object.freeze({ depthMax: 1 });
  for (const limits of [open, computed, fixed]) expect(copyJson([1], limits)).toEqual([1]);
  open.depthMax = depthMax = 0;
  for (const limits of [open, computed])
    expect(canonFault(thrownBy(() => copyJson([1], limits)))).toBe('too_deep');
  expect([copyJson([1], fixed), canonFault(thrownBy(() => copyJson([[1]], fixed)))]).toEqual([
    [1],
    'too_deep',
  ]);
});

test('the deepest setting is within the stack', () => {
  let value: unknown = 1;
  for (let i = 0; i < 1_000; i++) value = i % 2 === 0 ? [value] : { a: value };
  const limits = { depthMax: 1_000 };
  const text = canonicalize(value, limits);
  expect(canonicalize(copyJson(value, limits), limits)).toBe(text);
  expect(canonicalize(parseStrict(text, limits), limits)).toBe(text);
  expect(canonicalize(parseStrict(text.replace('"a"', '"\\u0061"'), limits), limits)).toBe(text);
  expect(canonicalize(parseCanonical(text, limits), limits)).toBe(text);
  expect(canonFault(thrownBy(() => canonicalize([value], limits)))).toBe('too_deep');
});
