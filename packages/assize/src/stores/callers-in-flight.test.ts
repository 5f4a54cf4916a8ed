import fc from 'fast-check';
import { expect, test } from 'vitest';
import { CallersInFlight } from './callers-in-flight.ts';

test('a single caller never waits for others', () => {
  const askers = new CallersInFlight();
  for (let i = 0; i < 10; i++) {
    askers.asking(1);
    expect(askers.half).toBe(1);
    askers.answered(1);
  }
});

test('as many as ask at a time are sent in halves', () => {
  fc.assert(
    fc.property(fc.integer({ min: 2, max: 1_000 }), (callers) => {
      const askers = new CallersInFlight();
      askers.asking(callers);
      expect(askers.half).toBe(Math.floor(callers / 2));
      // An occasional extra caller does not change an even number.
      const even = 2 * Math.floor(callers / 2);
      askers.asking(even + 1);
      expect(askers.half).toBe(even / 2);
      // A caller that asks a little later does not change it either.
      const others = new CallersInFlight();
      others.asking(even);
      others.answered(even - 1);
      expect(others.half).toBe(even / 2);
    }),
  );
});

test('the half follows the current number of callers, not an earlier one', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 2, max: 1_000 }),
      fc.integer({ min: 1, max: 50 }),
      (before, now) => {
        const askers = new CallersInFlight();
        askers.asking(before);
        for (let i = 0; i < 200; i++) {
          askers.asking(now);
          askers.answered(now);
        }
        expect(askers.half).toBeLessThanOrEqual(Math.ceil(now / 2));
        expect(askers.half).toBeGreaterThanOrEqual(Math.max(1, Math.floor(now / 2)));
      },
    ),
  );
});
