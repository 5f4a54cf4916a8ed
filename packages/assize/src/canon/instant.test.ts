import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { thrownBy } from '../../../../tests/thrown-by.ts';
import {
  addMicros,
  instantFromMillis,
  instantOf,
  instantToMillis,
  isInstant,
  maxInstant,
  parseInstant,
  readInstant,
} from './instant.ts';

const NOW = '2026-03-23T09:00:00.000000Z';
const FIRST = '0001-01-01T00:00:00.000000Z';
const LAST = '9998-12-31T23:59:59.999999Z';

/** Microseconds since 1970, as unbounded integers: the model for all arithmetic here. */
function microsOf(instant: string): bigint {
  return BigInt(Date.parse(`${instant.slice(0, 23)}Z`)) * 1000n + BigInt(instant.slice(23, 26));
}

const instants: fc.Arbitrary<string> = fc
  .tuple(fc.integer({ min: instantToMillis(FIRST), max: instantToMillis(LAST) }), fc.nat(999))
  .map(([ms, micros]) => instantFromMillis(ms, micros));

describe('isInstant', () => {
  test.each([NOW, FIRST, LAST, '2024-02-29T23:59:59.000001Z', '2000-02-29T00:00:00.000000Z'])(
    'true for %s',
    (text) => {
      expect(isInstant(text)).toBe(true);
    },
  );

  test.each<unknown>([
    '2026-03-23T09:00:00Z',
    '2026-03-23T09:00:00.000Z',
    '2026-03-23T09:00:00.0000000Z',
    '2026-03-23T09:00:00.000000',
    '2026-03-23T09:00:00.000000z',
    '2026-03-23t09:00:00.000000Z',
    '2026-03-23 09:00:00.000000Z',
    '2026-03-23T09:00:00,000000Z',
    '2026-3-023T09:00:00.000000Z',
    '2026/03/23T09:00:00.000000Z',
    '0000-01-01T00:00:00.000000Z',
    '9999-12-31T00:00:00.000000Z',
    '2025-02-29T00:00:00.000000Z',
    '1900-02-29T00:00:00.000000Z',
    '2026-02-30T00:00:00.000000Z',
    '2026-04-31T00:00:00.000000Z',
    '2026-00-10T00:00:00.000000Z',
    '2026-13-10T00:00:00.000000Z',
    '2026-01-00T00:00:00.000000Z',
    '2026-01-32T00:00:00.000000Z',
    '2026-01-01T24:00:00.000000Z',
    '2026-01-01T00:60:00.000000Z',
    '2026-12-31T23:59:60.000000Z',
    '2026-01-01T00:00:00.00000٠Z',
    '2026-01-01T0-:00:00.000000Z',
    '+026-01-01T00:00:00.000000Z',
    `${NOW} `,
    '',
    null,
    undefined,
    0,
    new Date(0),
    [NOW],
  ])('false for %j', (text) => {
    expect(isInstant(text)).toBe(false);
  });

  test('every day of 400 years, and no other, is a day', () => {
    const day = 86_400_000;
    const [first, end] = [Date.parse('1900-01-01'), Date.parse('2300-01-01')];
    const made = Array.from({ length: (end - first) / day }, (_, i) =>
      instantFromMillis(first + i * day),
    );
    const accepted: string[] = [];
    for (let year = 1900; year < 2300; year++) {
      for (let month = 0; month < 14; month++) {
        for (let date = 0; date < 33; date++) {
          const text = `${year}-${two(month)}-${two(date)}T00:00:00.000000Z`;
          if (isInstant(text)) accepted.push(text);
        }
      }
    }
    expect(accepted).toEqual(made);
  });
});

/** Microseconds since 1970 of a written time, by the rules of the calendar and in whole numbers. */
function naiveMicros({
  year,
  month,
  day,
  hour,
  minute,
  second,
  fraction,
  offset,
}: Written): bigint {
  let days = 0n;
  const leap = (y: number): boolean => y % 4 === 0 && (y % 100 !== 0 || y % 400 === 0);
  for (let y = Math.min(year, 1970); y < Math.max(year, 1970); y++)
    days += (year < 1970 ? -1n : 1n) * (leap(y) ? 366n : 365n);
  const lengths = [31, leap(year) ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
  for (let m = 1; m < month; m++) days += BigInt(lengths[m - 1]!);
  const seconds =
    (days + BigInt(day - 1)) * 86_400n + BigInt(hour * 3_600 + minute * 60 + second - offset * 60);
  return seconds * 1_000_000n + BigInt(fraction.slice(0, 6).padEnd(6, '0'));
}

interface Written {
  readonly [part: string]: number | string;
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
  readonly fraction: string;
  readonly offset: number;
}

const written: fc.Arbitrary<Written> = fc.record({
  year: fc.oneof(fc.integer({ min: 2, max: 9_997 }), fc.integer({ min: 1_950, max: 2_050 })),
  month: fc.integer({ min: 1, max: 12 }),
  day: fc.integer({ min: 1, max: 28 }),
  hour: fc.integer({ min: 0, max: 23 }),
  minute: fc.integer({ min: 0, max: 59 }),
  second: fc.integer({ min: 0, max: 59 }),
  fraction: fc.stringMatching(/^[0-9]{1,12}$/),
  offset: fc.integer({ min: -1_439, max: 1_439 }),
});

/** Every form in which the time can be written: marks, precision, and the offset. */
const forms: fc.Arbitrary<string> = written.chain((parts) =>
  fc.constantFrom('T', 't').chain((mark) =>
    fc.constantFrom('.', ',').chain((point) =>
      fc.constantFrom(':', '').map((colon) => {
        const { year, month, day, hour, minute, second, fraction, offset } = parts;
        const size = Math.abs(offset);
        const zone = `${offset < 0 ? '-' : '+'}${two(Math.floor(size / 60))}${colon}${two(size % 60)}`;
        const date = `${String(year).padStart(4, '0')}-${two(month)}-${two(day)}`;
        const text = `${date}${mark}${two(hour)}:${two(minute)}:${two(second)}${point}${fraction}${zone}`;
        return JSON.stringify({ parts, text });
      }),
    ),
  ),
);

describe('instantOf', () => {
  test('each written form is the same microsecond as by whole numbers', () => {
    fc.assert(
      fc.property(forms, (form) => {
        const { parts, text } = JSON.parse(form) as { parts: Written; text: string };
        const instant = instantOf(text);
        expect(isInstant(instant)).toBe(true);
        expect(microsOf(instant)).toBe(naiveMicros(parts));
        expect(readInstant(text)).toBe(instant);
      }),
    );
  });

  test('a Date, its text and its day are the same instant', () => {
    fc.assert(
      fc.property(instants, (instant) => {
        const date = new Date(instantToMillis(instant));
        expect(microsOf(instantOf(date))).toBe(BigInt(date.getTime()) * 1_000n);
        expect(instantOf(date)).toBe(instantOf(date.toISOString()));
        expect(instantOf(instant.slice(0, 10))).toBe(`${instant.slice(0, 10)}T00:00:00.000000Z`);
      }),
    );
  });

  test('a form without a fraction, a second or a minute of the offset', () => {
    const forms = [
      '2026-03-23T09:00Z',
      '2026-03-23T09:00:00z',
      '2026-03-23T11:00+02',
      '2026-03-23T04:30:00.0-0430',
    ];
    expect(forms.map((text) => instantOf(text))).toEqual([NOW, NOW, NOW, NOW]);
  });

  test.each<unknown>([
    new Date(Number.NaN),
    new Date(8.64e15),
    new Date(-8.64e15),
    '2026-03-23T09:00:00',
    '2026-03-23 09:00:00Z',
    '2026-03-23T09',
    '2026-03',
    '2026',
    '20260323T090000Z',
    '2026-W13-1',
    '2026-12-31T23:59:60Z',
    '2026-03-23T24:00:00Z',
    '2026-02-29',
    '2026-03-23T09:00:00+24:00',
    '2026-03-23T09:00:00+02:60',
    '2026-03-23T09:00:00[Europe/Berlin]',
    '+002026-03-23T09:00:00Z',
    '0001-01-01T00:00:00+00:01',
    '9998-12-31T23:59:59-00:01',
    '9999-12-31T23:59:59Z',
    'Mon, 23 Mar 2026 09:00:00 GMT',
    1_774_256_400_000,
    { getTime: () => 0 },
    null,
    undefined,
  ])('no other value is a time: %j', (value) => {
    expect(thrownBy(() => instantOf(value as string)).code).toBe('bad_instant');
    expect(readInstant(value)).toBeUndefined();
  });

  test('an object with the methods of a Date is not a time', () => {
    const code = thrownBy(() => instantOf(Object.create(Date.prototype))).code;
    expect(code).toBe('bad_instant');
  });

  test('a Date that lies about its time is read as it is', () => {
    const date = Object.assign(new Date(0), { getTime: () => 1e12, toISOString: () => NOW });
    expect(instantOf(date)).toBe('1970-01-01T00:00:00.000000Z');
  });
});

describe('milliseconds', () => {
  test('there and back', () => {
    fc.assert(
      fc.property(instants, (instant) => {
        expect(isInstant(instant)).toBe(true);
        expect(instantFromMillis(instantToMillis(instant), Number(instant.slice(23, 26)))).toBe(
          instant,
        );
      }),
    );
  });

  test('cut off toward the past, also before 1970', () => {
    expect(instantToMillis('1969-12-31T23:59:59.999999Z')).toBe(-1);
    expect(instantToMillis('1970-01-01T00:00:00.000999Z')).toBe(0);
  });

  test('years below 100 are years below 100', () => {
    expect(instantFromMillis(instantToMillis('0099-05-05T00:00:00.000000Z'))).toBe(
      '0099-05-05T00:00:00.000000Z',
    );
  });

  test.each<[number, number]>([
    [instantToMillis(FIRST) - 1, 0],
    [instantToMillis(LAST) + 1, 0],
    [0.5, 0],
    [Number.NaN, 0],
    [Number.POSITIVE_INFINITY, 0],
    [0, 1000],
    [0, -1],
    [0, 0.5],
    [0, Number.NaN],
  ])('%d and %d microseconds are refused', (ms, micros) => {
    expect(thrownBy(() => instantFromMillis(ms, micros)).code).toBe('bad_instant');
  });

  test('of a text that is not an instant are refused', () => {
    expect(thrownBy(() => instantToMillis('2026-03-23')).evidence['given']).toBe('2026-03-23');
  });
});

describe('order and distance', () => {
  test('the order of texts is the order of time', () => {
    fc.assert(
      fc.property(instants, instants, (a, b) => {
        expect(a < b).toBe(microsOf(a) < microsOf(b));
        expect(maxInstant(a, b)).toBe(microsOf(a) < microsOf(b) ? b : a);
        expect(maxInstant(a, b)).toBe(maxInstant(b, a));
      }),
    );
  });

  test('microseconds are added exactly', () => {
    const small = fc.oneof(fc.integer({ min: -3_000, max: 3_000 }), fc.maxSafeInteger());
    fc.assert(
      fc.property(instants, small, (instant, n) => {
        const sum = microsOf(instant) + BigInt(n);
        if (sum < microsOf(FIRST) || sum > microsOf(LAST)) {
          expect(thrownBy(() => addMicros(instant, n)).code).toBe('bad_instant');
        } else expect(microsOf(addMicros(instant, n))).toBe(sum);
      }),
      { numRuns: 2_000 },
    );
  });

  test('over the borders', () => {
    expect(addMicros('2026-02-28T23:59:59.999999Z', 1)).toBe('2026-03-01T00:00:00.000000Z');
    expect(addMicros('1970-01-01T00:00:00.000000Z', -1)).toBe('1969-12-31T23:59:59.999999Z');
    expect(addMicros(FIRST, 0)).toBe(FIRST);
    expect(thrownBy(() => addMicros(FIRST, -1)).code).toBe('bad_instant');
    expect(thrownBy(() => addMicros(LAST, 1)).code).toBe('bad_instant');
  });

  test('an invalid instant or distance is refused', () => {
    expect(thrownBy(() => maxInstant(NOW, 'soon')).code).toBe('bad_instant');
    expect(thrownBy(() => maxInstant('soon', NOW)).code).toBe('bad_instant');
    for (const n of [0.5, Number.NaN, 2 ** 53])
      expect(thrownBy(() => addMicros(NOW, n)).code).toBe('bad_instant');
  });
});

describe('parseInstant', () => {
  test.each([
    [NOW, NOW],
    ['2026-03-23T09:00:00Z', NOW],
    ['2026-03-23T09:00Z', NOW],
    ['2026-03-23t09:00:00z', NOW],
    ['2026-03-23T11:00:00+02:00', NOW],
    ['2026-03-23T11:00:00+0200', NOW],
    ['2026-03-23T11:00:00+02', NOW],
    ['2026-03-23T03:30:00-05:30', NOW],
    ['2026-03-23T09:00:00-00:00', NOW],
    ['2026-03-23T09:00:00.1Z', '2026-03-23T09:00:00.100000Z'],
    ['2026-03-23T09:00:00,1234567Z', '2026-03-23T09:00:00.123456Z'],
    ['2026-03-23T09:00:00.123456789+00:00', '2026-03-23T09:00:00.123456Z'],
    ['2026-03-01T00:30:00+01:00', '2026-02-28T23:30:00.000000Z'],
    ['2024-02-28T23:30:00-01:00', '2024-02-29T00:30:00.000000Z'],
    ['0001-01-01T23:00:00+23:00', FIRST],
    ['0050-01-01T00:00:00Z', '0050-01-01T00:00:00.000000Z'],
    ['2026-03-23', '2026-03-23T00:00:00.000000Z'],
  ])('%s is %s', (text, instant) => {
    expect(parseInstant(text)).toBe(instant);
    expect(readInstant(text)).toBe(instant);
  });

  test.each([
    '',
    'now',
    '2026-03',
    '2026-02-30',
    '9999-12-31',
    '2026-03-23T09:00:00',
    '2026-03-23 09:00:00Z',
    '2026-03-23T09Z',
    '2026-03-23T09:00:00.Z',
    '2026-02-29T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-01-01T24:00:00Z',
    '2026-01-01T23:59:60Z',
    '2026-01-01T00:00:00+24:00',
    '2026-01-01T00:00:00+02:60',
    '0001-01-01T00:00:00+01:00',
    '9998-12-31T23:00:00-01:00',
    '9999-12-31T00:00:00Z',
    '0000-01-01T00:00:00Z',
    '+002026-01-01T00:00:00Z',
    '2026-01-01T00:00:00Z ',
    '2026-01-01T00:00:00Z\n',
    '2026-W01-1T00:00:00Z',
  ])('%j is refused', (text) => {
    expect(thrownBy(() => parseInstant(text)).code).toBe('bad_instant');
    expect(readInstant(text)).toBeUndefined();
  });

  test('it agrees with the platform about every instant with an offset', () => {
    fc.assert(
      fc.property(instants, fc.integer({ min: -1439, max: 1439 }), (instant, minutes) => {
        const size = Math.abs(minutes);
        const offset = `${minutes < 0 ? '-' : '+'}${two(Math.floor(size / 60))}:${two(size % 60)}`;
        const text = instant.replace('Z', offset);
        const sum = microsOf(instant) - BigInt(minutes) * 60_000_000n;
        fc.pre(sum >= microsOf(FIRST) && sum <= microsOf(LAST));
        expect(microsOf(parseInstant(text))).toBe(sum);
        expect(instantToMillis(parseInstant(text))).toBe(Date.parse(text));
      }),
    );
  });
});

function two(n: number): string {
  return String(n).padStart(2, '0');
}
