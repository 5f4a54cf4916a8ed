import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cases } from '../../../tests/support/cases.ts';
import { estimateOf, quantile } from './interval.ts';

describe('an estimate', () => {
  test('is the mean; of values that are all the same, nothing is uncertain', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: -1e6, max: 1e6 }),
        fc.integer({ min: 1, max: 50 }),
        fc.nat(),
        (value, n, seed) => {
          const { mean, within } = estimateOf(Array(n).fill(value), seed);
          expect([mean, within]).toEqual([value, 0]);
        },
      ),
      { numRuns: cases(50) },
    );
  });

  test('is the same again, and does not look at the order of the values much', () => {
    const values = Array.from({ length: 90 }, (_, i) => (i % 3 === 0 ? 100 : 0));
    expect(estimateOf(values, 5)).toEqual(estimateOf(values, 5));
    const sorted = estimateOf([...values].sort(), 5);
    expect(sorted.mean).toBe(estimateOf(values, 5).mean);
    expect(Math.abs(sorted.within - estimateOf(values, 5).within)).toBeLessThan(2);
  });

  test.each([
    [100, 0.3],
    [300, 0.5],
    [600, 0.1],
  ])('of %d runs with success rate %d has the textbook interval within a tenth', (n, part) => {
    const values = Array.from({ length: n }, (_, i) => (i < n * part ? 1 : 0));
    const textbook = 1.96 * Math.sqrt((part * (1 - part)) / n);
    const { mean, within } = estimateOf(values, 1);
    expect(mean).toBeCloseTo(part);
    expect(Math.abs(within - textbook) / textbook).toBeLessThan(0.1);
  });

  test('of nothing is refused', () => {
    expect(() => estimateOf([], 1)).toThrow(RangeError);
  });
});

test('a quantile is the least value that so many do not exceed', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer(), { minLength: 1 }),
      fc.double({ min: 0.001, max: 1, noNaN: true }),
      (values, part) => {
        const sorted = values.sort((a, b) => a - b);
        const naive = sorted.find(
          (value) => sorted.filter((each) => each <= value).length >= part * sorted.length,
        );
        expect(quantile(sorted, part)).toBe(naive);
      },
    ),
    { numRuns: cases(200) },
  );
});
