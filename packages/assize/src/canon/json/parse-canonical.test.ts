import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { jsonName, jsonValue } from '../../../../../tests/json-values.ts';
import { thrownBy } from '../../../../../tests/thrown-by.ts';
import { canonicalize } from './canonicalize.ts';
import { JsonReader } from './json-reader.ts';
import { type CanonLimits, completeLimits } from './limits.ts';
import { parseCanonical } from './parse-canonical.ts';

/** The definition, without any shortcut. */
function isCanonicalText(text: string, limits?: Partial<CanonLimits>): boolean {
  try {
    return canonicalize(new JsonReader(text, completeLimits(limits)).read(), limits) === text;
  } catch {
    return false;
  }
}

function isAccepted(text: string, limits?: Partial<CanonLimits>): boolean {
  try {
    const value = parseCanonical(text, limits);
    expect(canonicalize(value, limits)).toBe(text);
    return true;
  } catch (error) {
    const { code } = thrownBy(() => {
      throw error;
    });
    expect(code).toBe('not_canonical');
    return false;
  }
}

describe('gives back', () => {
  test('every value, also with limits that it just meets', () => {
    fc.assert(
      fc.property(jsonValue, (value) => {
        const text = canonicalize(value);
        expect(canonicalize(parseCanonical(text))).toBe(text);
        expect(canonicalize(parseCanonical(text, { bytesMax: Buffer.byteLength(text) }))).toBe(
          text,
        );
      }),
      { numRuns: 2_000 },
    );
  });

  test.each([
    'null',
    '""',
    '0',
    '1e-7',
    '[]',
    '{}',
    '{"10":1,"9":2}',
    '{"":0,"1":1,"a":2}',
    '{"\u{1f600}":2,"\ufb33":1}',
    '{"__proto__":{"__proto__":1}}',
    '"\\\\ud800"',
    '"\\u0000\\b\\f\\u001f\u007f\u2028"',
    '{"\\\\":1,"a\\nb":2}',
  ])('%s', (text) => {
    expect(isCanonicalText(text)).toBe(true);
    expect(isAccepted(text)).toBe(true);
  });
});

describe('refuses', () => {
  test.each([
    '',
    ' ',
    'nul',
    '1 ',
    ' 1',
    '[1, 2]',
    '{"a": 1}',
    '{"b":1,"a":2}',
    '{"9":1,"10":2}',
    '{"\ufb33":1,"\u{1f600}":2}',
    '{"a":1,"a":1}',
    '{"a":1,"\\u0061":1}',
    '"\\u0061"',
    '"\\/"',
    '"\\u000a"',
    '"\\u001F"',
    '"\\u2028"',
    '"\\ud83d\\ude00"',
    '"\\ud800"',
    '"\ud800"',
    '{"\\ud800":1}',
    '-0',
    '[-0]',
    '1.0',
    '1E3',
    '1e3',
    '0.1e1',
    '1e400',
    '9007199254740992',
    '9007199254740993',
    '[1e300]',
    '1e+300',
    '\ufeff1',
    '['.repeat(65) + ']'.repeat(65),
    '['.repeat(100_000) + ']'.repeat(100_000),
    '"' + 'x'.repeat(1_048_575) + '"',
    '['.repeat(1_000_000),
  ])('%j', (text) => {
    expect(isCanonicalText(text)).toBe(false);
    expect(isAccepted(text)).toBe(false);
  });

  test('with the place where the texts part, or the cause', () => {
    const parted = thrownBy(() => parseCanonical('{"a":1,"c":2,"b":3}'));
    expect([parted.code, parted.evidence['offset'], parted.cause]).toEqual([
      'not_canonical',
      8,
      undefined,
    ]);
    const unreadable = thrownBy(() => parseCanonical('{"a":1,}'));
    expect([unreadable.code, unreadable.cause]).toMatchObject([
      'not_canonical',
      { code: 'syntax', pointer: '' },
    ]);
    const forbidden = thrownBy(() => parseCanonical('[9007199254740992]'));
    expect([forbidden.code, forbidden.cause]).toMatchObject([
      'not_canonical',
      { message: expect.stringContaining('2^53-1'), pointer: '/0' },
    ]);
  });
});

describe('exactly as the definition says', () => {
  const pieces = [
    ...[
      'a',
      '0',
      '1',
      '9',
      '-',
      '-0',
      '.',
      '.0',
      'e',
      'E3',
      '1e21',
      '1E3',
      ' ',
      '\n',
      '"',
      '\\',
      '\\\\',
      '\\ud800',
    ],
    ...[
      '\\u0061',
      '\\u0000',
      '\ud83d',
      '\ude00',
      ',',
      ':',
      '[',
      ']',
      '{',
      '}',
      '9007199254740992',
      'null',
      '__proto__',
    ],
    ...['"a":1,', '"a":1', ',"a":1', '"10":0,"9":0', '\ufeff', 'é', '\u2028', '\u007f', '\b'],
  ];
  const limits = fc.record(
    {
      depthMax: fc.constantFrom(1, 3, 64),
      bytesMax: fc.constantFrom(4, 30, 100_000),
      nodesMax: fc.constantFrom(1, 4, 1_000),
      integers: fc.constantFrom('safe' as const, 'any' as const),
    },
    { requiredKeys: [] },
  );

  test('for texts that were changed anywhere', () => {
    const changed = fc
      .tuple(
        jsonValue,
        fc.array(fc.tuple(fc.nat(), fc.nat(3), fc.constantFrom('', ...pieces)), { maxLength: 3 }),
      )
      .map(([value, changes]) =>
        changes.reduce((text, [at, length, piece]) => {
          const start = at % (text.length + 1);
          return text.slice(0, start) + piece + text.slice(start + length);
        }, canonicalize(value)),
      );
    let accepted = 0;
    fc.assert(
      fc.property(changed, limits, (text, some) => {
        const expected = isCanonicalText(text, some);
        accepted += expected ? 1 : 0;
        expect(isAccepted(text, some)).toBe(expected);
      }),
      { numRuns: 8_000 },
    );
    expect(accepted).toBeGreaterThan(400);
  });

  test('for members in any order, written by JSON.stringify', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(jsonName, { maxLength: 6 }),
        fc.double({ noNaN: true }),
        limits,
        (names, n, some) => {
          const text = `{${names.map((name) => `${JSON.stringify(name)}:${JSON.stringify(n)}`).join(',')}}`;
          expect(isAccepted(text, some)).toBe(isCanonicalText(text, some));
        },
      ),
      { numRuns: 5_000 },
    );
  });

  test('also if the platform misreads escaped names (nodejs/node#63785)', () => {
    const text = '{"\\nxy":0}';
    JSON.parse('{"\\\\nx":0}');
    expect(parseCanonical(text)).toEqual({ '\nxy': 0 });
    JSON.parse('{"A":[],"\\\\nx":0}');
    expect(parseCanonical('{"A":1,"\\\\nx":0}')).toEqual({ A: 1, '\\nx': 0 });
  });

  test('also when Object.prototype has been given something', () => {
    const polluted = Object.prototype as { zz?: unknown; toJSON?: unknown };
    for (const [name, value] of [
      ['zz', { a: Number.NaN }],
      ['toJSON', () => 'gone'],
    ] as const) {
      polluted[name] = value;
      try {
        expect(isAccepted('{"a":{"b":1}}')).toBe(true);
        expect(isAccepted('{"b":1,"a":2}')).toBe(false);
      } finally {
        delete polluted[name];
      }
    }
  });
});
