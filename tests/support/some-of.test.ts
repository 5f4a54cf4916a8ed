import fc from 'fast-check';
import { expect, test } from 'vitest';
import { seededNumbers } from '../../packages/testing/src/faults.ts';
import { cases } from './cases.ts';
import { someOf, spread } from './some-of.ts';

const lists = fc
  .integer({ min: 1, max: 40 })
  .chain((length) =>
    fc.record({ length: fc.constant(length), count: fc.integer({ min: 1, max: length + 3 }) }),
  );

test('a part is evenly spread, and other seeds take every other item', () => {
  fc.assert(
    fc.property(lists, fc.integer(), ({ length, count }, seed) => {
      const items = Array.from({ length }, (_, at) => at);
      const taken = new Set<number>();
      for (let n = 0; n < 50 * length; n++) {
        const part = spread(items, count, seededNumbers(seed + n));
        expect(part).toHaveLength(Math.min(count, length));
        part.forEach((item, i) => {
          expect(Math.abs(item - (i * length) / part.length)).toBeLessThan(
            length / part.length + 1,
          );
          if (i > 0) expect(item).toBeGreaterThan(part[i - 1]!);
          taken.add(item);
        });
        if (taken.size === length) return;
      }
      expect([...taken].sort((a, b) => a - b)).toEqual(items);
    }),
    { numRuns: cases(400) },
  );
});

test('a part keeps the order of the list, and items of every kind', () => {
  const list = Array.from({ length: 400 }, (_, at) => ({
    at,
    kind: at % 100 === 7 ? 'rare' : `kind ${at % 3}`,
  }));
  const part = someOf(list, ({ kind }) => kind);
  expect(part.map(({ at }) => at)).toEqual(part.map(({ at }) => at).toSorted((a, b) => a - b));
  expect(new Set(part.map(({ kind }) => kind))).toEqual(new Set(list.map(({ kind }) => kind)));
  expect(someOf(list)).toHaveLength(cases(400));
  expect(someOf(list)).toEqual(someOf(list));
  expect(someOf([])).toEqual([]);
});
