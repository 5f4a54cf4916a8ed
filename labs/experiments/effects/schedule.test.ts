import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cases } from '../../../tests/support/cases.ts';
import { MODES } from './modes.ts';
import { BOTH, PAPER, PROFILES, scheduleOf } from './schedule.ts';

const place = fc.tuple(fc.string(), fc.nat(60), fc.nat(25));

test('a fault depends on seed, task, step and attempt, not on caller or order', () => {
  fc.assert(
    fc.property(
      fc.nat(),
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.array(place),
      (seed, rate, places) => {
        const options = { seed, rate, kinds: BOTH.kinds(MODES[0]!) };
        const [one, other] = [scheduleOf(options), scheduleOf(options)];
        const forwards = places.map(([task, step, attempt]) => one(task, step, attempt));
        const backwards = [...places]
          .reverse()
          .map(([task, step, attempt]) => other(task, step, attempt));
        expect(backwards.reverse()).toEqual(forwards);
      },
    ),
    { numRuns: cases(100) },
  );
});

test('all modes and profiles hit the same calls; `both` with the same faults', () => {
  fc.assert(
    fc.property(fc.nat(), fc.array(place, { minLength: 1 }), (seed, places) => {
      const faultsIn = PROFILES.flatMap((profile) =>
        MODES.map((mode) => {
          const schedule = scheduleOf({ seed, rate: 0.3, kinds: profile.kinds(mode) });
          return {
            profile,
            mode,
            faults: places.map(([task, step, attempt]) => schedule(task, step, attempt)),
          };
        }),
      );
      const hitsOf = (faults: readonly string[]): boolean[] =>
        faults.map((fault) => fault !== 'none');
      for (const { profile, mode, faults } of faultsIn) {
        expect(hitsOf(faults)).toEqual(hitsOf(faultsIn[0]!.faults));
        if (profile === BOTH) expect(faults).toEqual(faultsIn[0]!.faults);
        if (profile !== PAPER) continue;
        const kinds = new Set(faults.filter((fault) => fault !== 'none'));
        expect([...kinds]).toEqual(
          kinds.size === 0 ? [] : [mode.name === 'No-Tx' ? 'lost' : 'exception'],
        );
      }
    }),
    { numRuns: cases(50) },
  );
});

test.each([0, 0.05, 0.3, 0.5, 1])(
  '%d of all calls are hit, equally by each kind at each step and attempt',
  (rate) => {
    const schedule = scheduleOf({ seed: 7, rate, kinds: ['exception', 'lost'] });
    for (const [step, attempt] of [
      [0, 0],
      [9, 0],
      [3, 1],
      [3, 20],
    ] as const) {
      const faults = Array.from({ length: 4_000 }, (_, i) => schedule(`task ${i}`, step, attempt));
      const part = (fault: string): number =>
        faults.filter((each) => each === fault).length / faults.length;
      // Five standard errors: none in a million such samples is further off.
      expect(Math.abs(1 - part('none') - rate)).toBeLessThanOrEqual(
        5 * Math.sqrt((rate * (1 - rate)) / faults.length),
      );
      expect(Math.abs(part('lost') - rate / 2)).toBeLessThanOrEqual(
        5 * Math.sqrt(rate / 2 / faults.length),
      );
    }
  },
);

test('another seed hits other calls', () => {
  const hitsOf = (seed: number): string => {
    const schedule = scheduleOf({ seed, rate: 0.5, kinds: ['lost'] });
    return Array.from({ length: 64 }, (_, step) => schedule('task', step, 0)).join();
  };
  expect(new Set([1, 2, 3, 4].map(hitsOf)).size).toBe(4);
});
