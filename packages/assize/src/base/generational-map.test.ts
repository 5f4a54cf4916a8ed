import fc from 'fast-check';
import { expect, test } from 'vitest';
import { GenerationalMap } from './index.ts';

test('each present key has its last value, and the last keys are all present', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 5 }),
      fc.array(fc.tuple(fc.nat(12), fc.nat())),
      (size, sets) => {
        const map = new GenerationalMap<number, number>(size);
        const model = new Map<number, number>();
        for (const [key, value] of sets) {
          map.set(key, value);
          model.delete(key);
          model.set(key, value);
          const kept = [...Array(13).keys()].filter((k) => map.get(k) !== undefined || k === key);
          for (const k of kept) expect(map.get(k) ?? model.get(k)).toBe(model.get(k));
          expect(map.get(key)).toBe(value);
        }
      },
    ),
  );
});

test('it never keeps more than two generations, and keeps the last one', () => {
  const map = new GenerationalMap<number, number>(100);
  for (let i = 0; i < 10_000; i++) map.set(i, i);
  const kept = Array.from({ length: 10_000 }, (_, i) => i)
    .reverse()
    .filter((i) => map.get(i) !== undefined);
  expect(kept.length).toBeLessThanOrEqual(200);
  expect(kept.slice(0, 100)).toEqual(Array.from({ length: 100 }, (_, i) => 9_999 - i));
});
