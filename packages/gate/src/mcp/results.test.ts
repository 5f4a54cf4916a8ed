import { expect, test, vi } from 'vitest';
import { KeptResults } from './results.ts';

test('kept results are dropped after their time, and the oldest for newer ones', () => {
  vi.useFakeTimers();
  try {
    const kept = new KeptResults({ most: 10, ms: 600_000 });
    const [first, second] = [kept.keep('a', 6), kept.keep('b', 6)];
    expect([kept.read(first), kept.read(second)]).toEqual([undefined, 'b']);
    vi.advanceTimersByTime(600_000);
    expect(kept.read(second)).toBeUndefined();
    const [third, fourth] = [kept.keep('c', 5), kept.keep('d', 5)];
    expect([kept.read(third), kept.read(fourth)]).toEqual(['c', 'd']);
  } finally {
    vi.useRealTimers();
  }
});
