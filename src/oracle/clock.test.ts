import { afterEach, describe, expect, test, vi } from 'vitest';
import { addMicros, isInstant } from '#canon';
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

  test('never goes back if the clock is set back an hour; follows one set ahead', () => {
    const before = systemClock.now();
    const real = Date.now();
    vi.useFakeTimers({ toFake: ['Date'], now: real - 3_600_000 });
    const first = systemClock.now();
    const second = systemClock.now();
    expect(first > before).toBe(true);
    expect(second).toBe(addMicros(first, 1));
    vi.setSystemTime(real + 3_600_000);
    expect(systemClock.now() >= new Date(real + 3_600_000).toISOString().replace('Z', '000Z')).toBe(true);
  });
});

describe('fixedClock', () => {
  test('stands still, or advances by its step across seconds', () => {
    const standing = fixedClock(start);
    expect([standing.now(), standing.now()]).toEqual([start, start]);
    const going = fixedClock(start, 400_000);
    expect([going.now(), going.now(), going.now(), going.now()].at(-1)).toBe('2026-03-23T09:00:01.200000Z');
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
    expect(() => fixedClock(instant, step)).toThrowError(expect.objectContaining({ code: 'bad_clock' }));
  });
});
