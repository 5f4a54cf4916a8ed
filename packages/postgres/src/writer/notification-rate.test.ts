import fc from 'fast-check';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { NotificationRate } from './notification-rate.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const nowMs = (): number => Date.now();

test('after each commit that did not notify, an announcement follows in time', async () => {
  const pauses = fc.array(fc.integer({ min: 0, max: 60 }), { minLength: 60, maxLength: 300 });
  await fc.assert(
    fc.asyncProperty(pauses, async (pausesMs) => {
      const announcedAt: number[] = [];
      const rate = new NotificationRate(async () => void announcedAt.push(nowMs()), nowMs);
      const silentAt: number[] = [];
      let told = 0;
      const start = nowMs();
      for (const ms of pausesMs) {
        await vi.advanceTimersByTimeAsync(ms);
        if (rate.next()) told++;
        else silentAt.push(nowMs());
      }
      const seconds = (nowMs() - start) / 1_000;
      await vi.advanceTimersByTimeAsync(25);
      for (const at of silentAt)
        expect(announcedAt.some((then) => then >= at && then <= at + 25)).toBe(true);
      expect(told).toBeLessThanOrEqual(50 + seconds * 20 + 1);
    }),
    { numRuns: 50 },
  );
});

test('a store that closes announces immediately', async () => {
  const announce = vi.fn(async () => undefined);
  const rate = new NotificationRate(announce, nowMs);
  await rate.flush();
  while (rate.next());
  expect(announce).not.toHaveBeenCalled();
  await rate.flush();
  expect(announce).toHaveBeenCalledTimes(1);
});

test('a failed announcement is made again', async () => {
  const announce = vi.fn(async () => {
    if (announce.mock.calls.length === 1) throw new Error('the connection was lost');
  });
  const rate = new NotificationRate(announce, nowMs);
  while (rate.next());
  await vi.advanceTimersByTimeAsync(25);
  expect(announce).toHaveBeenCalledTimes(1);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(announce).toHaveBeenCalledTimes(2);
});
