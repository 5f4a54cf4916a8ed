import fc from 'fast-check';
import { expect, test } from 'vitest';
import { CallTimeBudget } from './tool-calls.ts';

const wishes = fc.array(fc.integer({ min: 1, max: 100_000 }), { maxLength: 200 });

test('lost waits fit the budget, plus the millisecond that each wait gets', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 100_000 }), wishes, (ms, wished) => {
      const patience = new CallTimeBudget(ms);
      let lost = 0;
      for (const wish of wished) {
        const may = patience.limit(wish);
        expect(may).toBeGreaterThanOrEqual(1);
        expect(may).toBeLessThanOrEqual(wish);
        expect(may === 1 || 2 * may <= ms - lost).toBe(true);
        patience.spend(may);
        lost = Math.min(ms, lost + may);
      }
    }),
  );
  const one = new CallTimeBudget(60_000);
  const lost = [1, 2, 3, 4, 5].map(() => {
    const may = one.limit(20_000);
    one.spend(may);
    return may;
  });
  expect(lost).toEqual([20_000, 20_000, 10_000, 5_000, 2_500]);
});

test('an answered call costs nothing', () => {
  const patience = new CallTimeBudget(1_000);
  for (let i = 0; i < 100; i++) expect(patience.limit(400)).toBe(400);
});
