import fc from 'fast-check';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { isInstant } from '#canon';
import { fixedClock, systemClock } from './clock.ts';

const start = '2026-03-23T09:00:00.000000Z';

describe('systemClock', () => {
  afterEach(() => vi.useRealTimers());

  test('returns the machine’s time', () => {
    const [before, at, after] = [Date.now(), Date.parse(systemClock.now()), Date.now()];
    // Ten milliseconds for the allowed drift between the two clocks, and the microseconds that
    // Date.parse drops.
    expect(at).toBeGreaterThanOrEqual(before - 10);
    expect(at).toBeLessThanOrEqual(after + 10);
  });

  test('gives instants, each later than the one before', () => {
    const readings = Array.from({ length: 20_000 }, () => systemClock.now());
    expect(readings.every(isInstant)).toBe(true);
    expect(readings.every((at, index) => index === 0 || at > readings[index - 1]!)).toBe(true);
  });

  test('follows the machine’s clock, whatever it is set to', () => {
    const real = Date.now();
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: -1_000_000_000, max: 1_000_000_000 }), { minLength: 1 }),
        (jumps) => {
          for (const ms of jumps) {
            vi.useFakeTimers({ toFake: ['Date'], now: real + ms });
            const first = systemClock.now();
            const second = systemClock.now();
            // Less than a second back, the clock waits.
            expect(Math.abs(Date.parse(first) - (real + ms))).toBeLessThanOrEqual(1_010);
            expect(second > first).toBe(true);
          }
        },
      ),
    );
  });

  test('gives later instants, though the machine’s clock goes back by 20 ms', () => {
    const real = Date.now();
    vi.useFakeTimers({ toFake: ['Date'], now: real });
    const before = systemClock.now();
    vi.setSystemTime(real - 20);
    expect(systemClock.now() > before).toBe(true);
  });
});

describe('fixedClock', () => {
  test('stands still, or advances by its step across seconds', () => {
    const standing = fixedClock(start);
    expect([standing.now(), standing.now()]).toEqual([start, start]);
    const going = fixedClock(start, 400_000);
    expect([going.now(), going.now(), going.now(), going.now()].at(-1)).toBe(
      '2026-03-23T09:00:01.200000Z',
    );
  });

  test('starts at a text of a Date, or at a day', () => {
    expect(fixedClock(new Date(start).toISOString()).now()).toBe(start);
    expect(fixedClock('2026-03-23').now()).toBe('2026-03-23T00:00:00.000000Z');
  });

  test.each([
    ['2026-03-32', 0],
    [start, -1],
    [start, 0.5],
    [start, Number.NaN],
  ])('refuses %s with step %s', (instant, step) => {
    expect(() => fixedClock(instant, step)).toThrowError(
      expect.objectContaining({
        code: 'bad_argument',
        message: expect.stringMatching(
          /The start of the clock must be|The step of the clock must be a|The recorded answer is not an/,
        ),
      }),
    );
  });
});
