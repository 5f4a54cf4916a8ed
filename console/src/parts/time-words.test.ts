import fc from 'fast-check';
import { expect, test } from 'vitest';
import { spanAtEndOf, spanOf } from './time-words.ts';

/** Saturday, 28 November 2026, 16:30 by the clock of this machine. */
const NOW = new Date(2026, 10, 28, 16, 30);
const local = (...parts: readonly number[]): string =>
  new Date(...(parts as unknown as [number, number])).toISOString().replace('Z', '000Z');

test('words are read by the clock of the reader', () => {
  const day = { since: local(2026, 10, 27), until: local(2026, 10, 28) };
  const minute = { since: local(2026, 10, 28, 14, 5), until: local(2026, 10, 28, 14, 6) };
  const minutes = { since: local(2026, 10, 27, 14, 0), until: local(2026, 10, 27, 14, 10) };
  expect(spanOf('yesterday', NOW)).toEqual(day);
  expect(spanOf('27 Nov', NOW)).toEqual(day);
  expect(spanOf('27 November 2026', NOW)).toEqual(day);
  expect(spanOf('14:05', NOW)).toEqual(minute);
  expect(spanOf('today 14:05', NOW)).toEqual(minute);
  expect(spanOf('Yesterday 14:00 to 14:10', NOW)).toEqual(minutes);
  expect(spanOf('2026-11-27 14:00 – 14:10', NOW)).toEqual(minutes);
  expect(spanOf('7d', NOW)).toEqual({ since: local(2026, 10, 21, 16, 30) });
  const march = { since: local(2026, 2, 1), until: local(2026, 3, 1) };
  for (const words of ['March', 'mar', 'March 2026']) expect(spanOf(words, NOW)).toEqual(march);
  expect(spanOf('december', NOW)?.since).toBe(local(2025, 11, 1));
  expect(spanOf('last month', NOW)?.until).toBe(local(2026, 10, 1));
  const week = { since: local(2026, 10, 16), until: local(2026, 10, 23) };
  expect(spanOf('last week', NOW)).toEqual(week);
  expect(spanOf('this week', NOW)?.since).toBe(week.until);
  expect(spanAtEndOf('How long did Ada stay in March?', NOW)).toEqual(march);
  expect(spanAtEndOf('who may march', NOW)).toEqual(march);
  expect(spanAtEndOf('what was true on 27 Nov 2026', NOW)).toEqual(day);
  expect(spanAtEndOf('where does Ada live?', NOW)).toBeUndefined();
  expect(spanOf('last 90 m', NOW)).toEqual({ since: local(2026, 10, 28, 15, 0) });
});

test('a day without a year is the last one, and a night ends on the next day', () => {
  expect(spanOf('3 Dec', NOW)?.since).toBe(local(2025, 11, 3));
  expect(spanOf('yesterday 23:00 to 01:00', NOW)).toEqual({
    since: local(2026, 10, 27, 23, 0),
    until: local(2026, 10, 28, 1, 0),
  });
});

test('other words are not understood', () => {
  for (const words of [
    '',
    'soon',
    'marching',
    'last year',
    '31 Feb',
    '2026-02-30',
    '25:00',
    'yesterday 9',
    '5 m 3',
    '14:00 to',
  ])
    expect(spanOf(words, NOW), words).toBeUndefined();
});

test('a day and two times of any date are read as they were written', () => {
  const two = (n: number): string => String(n).padStart(2, '0');
  const time = fc.tuple(fc.nat(23), fc.nat(59));
  const date = fc.date({
    min: new Date(2001, 0, 1),
    max: new Date(2099, 0, 1),
    noInvalidDate: true,
  });
  fc.assert(
    fc.property(date, time, time, (day, from, to) => {
      const [y, m, d] = [day.getFullYear(), day.getMonth(), day.getDate()];
      const words = `${y}-${two(m + 1)}-${two(d)} ${from.map(two).join(':')} to ${to.map(two).join(':')}`;
      const isLater = to[0] * 60 + to[1] > from[0] * 60 + from[1];
      expect(spanOf(words, NOW)).toEqual({
        since: local(y, m, d, ...from),
        until: local(y, m, isLater ? d : d + 1, ...to),
      });
    }),
  );
});
