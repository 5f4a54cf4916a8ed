import { expect, test } from 'vitest';
import { spanBefore } from './rules-report.ts';

test('a time is a span before now, or a day by the clock of this machine', () => {
  const now = '2026-03-24T09:30:00.000000Z';
  expect(spanBefore('12h', now)).toBe('2026-03-23T21:30:00.000000Z');
  for (const [text, date] of [
    ['today', 24],
    ['yesterday', 23],
  ] as const) {
    const day = new Date(spanBefore(text, now) as string);
    expect([day.getDate(), day.getHours(), day.getMinutes()]).toEqual([date, 0, 0]);
  }
  expect(spanBefore('tomorrow', now)).toBe(undefined);
});
