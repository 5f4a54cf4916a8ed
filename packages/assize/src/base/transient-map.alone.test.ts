import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { TransientMap } from './index.ts';

type Step =
  | { readonly set: number; readonly value: number }
  | { readonly delete: number }
  | { readonly clear: true };

const key = fc.nat(400);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 30, arbitrary: fc.record({ set: key, value: fc.nat() }) },
  { weight: 20, arbitrary: fc.record({ delete: key }) },
  { weight: 1, arbitrary: fc.constant({ clear: true as const }) },
);

test('it behaves as a Map, in the same order, after any sets and deletes', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 1_000, size: 'max' }), (steps) => {
      const map = new TransientMap<number, number>();
      const model = new Map<number, number>();
      for (const each of steps) {
        if ('set' in each) {
          map.set(each.set, each.value);
          model.set(each.set, each.value);
          expect(map.get(each.set)).toBe(each.value);
        } else if ('delete' in each) {
          expect(map.has(each.delete)).toBe(model.has(each.delete));
          expect(map.delete(each.delete)).toBe(model.delete(each.delete));
          expect(map.get(each.delete)).toBe(undefined);
        } else {
          map.clear();
          model.clear();
        }
        expect(map.size).toBe(model.size);
      }
      expect([...map]).toEqual([...model]);
      expect([...map.keys()]).toEqual([...model.keys()]);
      expect([...map.values()]).toEqual([...model.values()]);
    }),
    { numRuns: 60 },
  );
});

test('minor collections free deleted values, however old the map is', () => {
  setFlagsFromString('--expose-gc');
  const gc = runInNewContext('gc') as (options: {
    type: 'minor' | 'major';
    execution: 'sync';
  }) => void;
  const map = new TransientMap<number, unknown[]>();
  let n = 0;
  const add = (count: number): void => {
    for (let i = 0; i < count; i++, n++) {
      map.set(n, new Array(100).fill(n));
      map.delete(n - 16);
    }
  };
  add(20);
  // Now all its memory is in the old generation.
  gc({ type: 'major', execution: 'sync' });
  const before = process.memoryUsage().heapUsed;
  add(20_000);
  for (let i = 0; i < 4; i++) gc({ type: 'minor', execution: 'sync' });
  // A hundredth of the inserted and deleted entries.
  expect(process.memoryUsage().heapUsed - before).toBeLessThan((20_000 * 800) / 100);
});
