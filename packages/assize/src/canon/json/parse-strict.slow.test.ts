import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { jsonText, jsonValue } from '../../../../../tests/json-values.ts';
import { canonFault } from '../../../../../tests/support/canon-fault.ts';
import { thrownBy } from '../../../../../tests/thrown-by.ts';
import { canonicalize } from './canonicalize.ts';
import { copyJson } from './copy.ts';
import { JsonReader } from './json-reader.ts';
import { type CanonLimits, DEFAULT_LIMITS } from './limits.ts';
import { parseStrict } from './parse-strict.ts';

type Refusal = [string, string | Uint8Array, string, number, string, Partial<CanonLimits>?];

/** Label, text, code, offset, pointer. */
const REFUSALS: Refusal[] = [
  ['nothing', '', 'syntax', 0, ''],
  ['white space only', ' \n', 'syntax', 2, ''],
  ['a word', 'nul', 'syntax', 0, ''],
  ['a longer word', 'nulls', 'syntax', 4, ''],
  ['another word', 'undefined', 'syntax', 0, ''],
  ['NaN', '[NaN]', 'syntax', 1, '/0'],
  ['Infinity', '[-Infinity]', 'syntax', 1, '/0'],
  ['single quotes', "['a']", 'syntax', 1, '/0'],
  ['a name without quotes', '{a:1}', 'syntax', 1, ''],
  ['a comment', '[1/**/]', 'syntax', 2, ''],
  ['a comma after the last item', '[1,]', 'syntax', 3, '/1'],
  ['a comma after the last member', '{"a":1,}', 'syntax', 7, ''],
  ['a comma before the first item', '[,1]', 'syntax', 1, '/0'],
  ['no comma', '[1 2]', 'syntax', 3, ''],
  ['no colon', '{"a" 1}', 'syntax', 5, '/a'],
  ['no value', '{"a":}', 'syntax', 5, '/a'],
  ['no end of an array', '[1', 'syntax', 2, ''],
  ['no end of an object', '{"a":1', 'syntax', 6, ''],
  ['the wrong bracket', '[1}', 'syntax', 2, ''],
  ['no end of a string', '["abc', 'syntax', 5, '/0'],
  ['no end of an escape', '["abc\\', 'syntax', 5, '/0'],
  ['an unknown escape', '["\\x41"]', 'syntax', 2, '/0'],
  ['too few hex digits', '["\\u12G4"]', 'syntax', 4, '/0'],
  ['a line break in a string', '["a\nb"]', 'syntax', 3, '/0'],
  ['a NUL in a string', '["\u0000"]', 'syntax', 2, '/0'],
  ['a leading zero', '[01]', 'syntax', 2, ''],
  ['a plus sign', '[+1]', 'syntax', 1, '/0'],
  ['no digit after the point', '[1.]', 'syntax', 2, ''],
  ['no digit before the point', '[.5]', 'syntax', 1, '/0'],
  ['no digit in the exponent', '[1e]', 'syntax', 2, ''],
  ['hexadecimal', '[0x10]', 'syntax', 2, ''],
  ['a minus sign alone', '[-]', 'syntax', 1, '/0'],
  ['more after the value', '{} {}', 'syntax', 3, ''],
  ['a NUL after the value', '1\u0000', 'syntax', 1, ''],
  ['white space that JSON does not allow', '[1,\u00a02]', 'syntax', 3, '/1'],
  ['a form feed', '[\f1]', 'syntax', 1, '/0'],
  ['a name twice', '{"a":1,"b":2,"a":1}', 'duplicate_key', 13, '/a'],
  ['a name twice, once hidden by an escape', '{"a":1,"\\u0061":2}', 'duplicate_key', 7, '/a'],
  ['a name twice, far inside', '[{"x":{"y":[{"k":0,"k":0}]}}]', 'duplicate_key', 19, '/0/x/y/0/k'],
  ['__proto__ twice', '{"__proto__":1,"__proto__":2}', 'duplicate_key', 15, '/__proto__'],
  ['the empty name twice', '{"":1,"":2}', 'duplicate_key', 6, '/'],
  ['an index twice', '{"1":1,"1":2}', 'duplicate_key', 7, '/1'],
  ['a byte order mark', '\ufeff{}', 'byte_order_mark', 0, ''],
  [
    'the bytes of a byte order mark',
    Uint8Array.of(0xef, 0xbb, 0xbf, 0x7b, 0x7d),
    'byte_order_mark',
    0,
    '',
  ],
  ['half a pair', '["\ud83d"]', 'lone_surrogate', 1, '/0'],
  ['half a pair, escaped', '["\\ud83d"]', 'lone_surrogate', 1, '/0'],
  ['half a pair, escaped in capitals', '["\\uDE00"]', 'lone_surrogate', 1, '/0'],
  ['the halves in the wrong order', '["\\ude00\\ud83d"]', 'lone_surrogate', 1, '/0'],
  ['half a pair in a name', '{"\\ud83d":1}', 'lone_surrogate', 1, ''],
  ['half a pair as it is, half escaped', '["\ud83d\\ude00"]', 'lone_surrogate', 1, '/0'],
  ['half a pair escaped, half as it is', '["\\ud83d\ude00"]', 'lone_surrogate', 1, '/0'],
  ['half a pair outside of strings', '[\ud83d]', 'syntax', 1, '/0'],
  ['half a pair as the value', '"\\ud83d"', 'lone_surrogate', 0, ''],
  ['2^53', '[9007199254740992]', 'unsafe_integer', 1, '/0'],
  ['2^53+1, rounded by a double', '{"n":9007199254740993}', 'unsafe_integer', 5, '/n'],
  ['-2^53', '-9007199254740992', 'unsafe_integer', 0, ''],
  ['an integer with an exponent', '[1e16]', 'unsafe_integer', 1, '/0'],
  ['an integer with a point', '[9007199254740993.0]', 'unsafe_integer', 1, '/0'],
  ['larger than any double', '[0,1e400]', 'not_finite', 3, '/1'],
  [
    'larger than any double, any integers',
    '[0,-1e400]',
    'not_finite',
    3,
    '/1',
    { integers: 'any' },
  ],
  ['65 deep', '['.repeat(65) + ']'.repeat(65), 'too_deep', 64, '/0'.repeat(64)],
  ['a million deep', '['.repeat(1_000_000), 'too_deep', 64, '/0'.repeat(64)],
  ['objects a hundred thousand deep', '{"a":'.repeat(100_000), 'too_deep', 320, '/a'.repeat(64)],
  ['too many nodes', '[1,2,3]', 'too_many_nodes', 5, '/2', { nodesMax: 3 }],
];

describe('refuses', () => {
  test.each<Refusal>(REFUSALS)('%s', (_name, text, code, offset, pointer, limits) => {
    const error = thrownBy(() => parseStrict(text, limits));
    expect([canonFault(error), error.evidence['offset'], error.pointer]).toEqual([
      code,
      offset,
      pointer,
    ]);
  });

  test.each([
    ['text', '"' + 'x'.repeat(1_048_575) + '"'],
    ['text that is longer in UTF-8', '"' + 'é'.repeat(600_000) + '"'],
    ['bytes', new Uint8Array(1_048_577).fill(0x20)],
  ])('too much %s', (_name, text) => {
    expect(thrownBy(() => parseStrict(text)).code).toBe('too_large');
  });

  test.each([
    ['a byte that never occurs', [0x5b, 0xff, 0x5d], 1],
    ['an overlong slash', [0x22, 0xc0, 0xaf, 0x22], 1],
    ['half a pair in three bytes', [0x22, 0x61, 0xed, 0xa0, 0x80, 0x22], 2],
    ['a cut-off character', [0x22, 0xe2, 0x82], 1],
    ['beyond U+10FFFF', [0x22, 0xf4, 0x90, 0x80, 0x80, 0x22], 1],
    ['an invalid byte after a real U+FFFD', [0x22, 0xef, 0xbf, 0xbd, 0x80, 0x22], 4],
  ])('invalid UTF-8: %s', (_name, bytes, offset) => {
    const error = thrownBy(() => parseStrict(Uint8Array.from(bytes)));
    expect([canonFault(error), error.evidence['offset']]).toEqual(['invalid_utf8', offset]);
  });

  test('with the line and the column', () => {
    const { evidence } = thrownBy(() => parseStrict('{\n  "a": 1,\r\n  "a": 2\n}'));
    expect(evidence).toEqual({ offset: 15, line: 3, column: 3, pointer: '/a' });
  });
});

describe('accepts', () => {
  test.each<[string, string, unknown]>([
    ['white space everywhere', ' { "a" : [ 1 ,\t2 ] ,\r\n"b":{ } } ', { a: [1, 2], b: {} }],
    ['all escapes', '"\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041\\u00e9"', '"\\/\b\f\n\r\tAé'],
    ['an escaped pair', '"\\ud83d\\ude00"', '\u{1f600}'],
    ['a pair, half escaped', '["\\\\ud83d"]', ['\\ud83d']],
    ['names with escapes', '{"\\n":1,"\\\\n":2,"\\u0061":3}', { '\n': 1, '\\n': 2, a: 3 }],
    [
      'numbers',
      '[0,-1,1.5,1E3,1e-7,-2.5e+2,9007199254740991]',
      [0, -1, 1.5, 1000, 1e-7, -250, 9007199254740991],
    ],
    ['a number too small for a double', '1e-400', 0],
    ['words', '[true,false,null]', [true, false, null]],
    ['a scalar', ' "a" ', 'a'],
    [
      'strings that look like structure',
      '{"a:":"{\\"b\\":1}","c":":"}',
      { 'a:': '{"b":1}', c: ':' },
    ],
  ])('%s', (_name, text, value) => {
    expect(parseStrict(text)).toEqual(value);
    expect(parseStrict(Buffer.from(text))).toEqual(value);
  });

  test('−0 as 0', () => {
    for (const text of ['-0', '[-0]', '[-0.0e5]', '{"\\u0061":-0}']) {
      expect(canonicalize(parseStrict(text))).toBe(canonicalize(JSON.parse(text)));
      expect(Object.is([parseStrict(text)].flat()[0], -0)).toBe(false);
    }
  });

  test('__proto__ as an own member, on both ways through the parser', () => {
    for (const text of ['{"__proto__":{"a":1}}', '{"__proto_\\u005f":{"a":1}}']) {
      const value = parseStrict(text) as object;
      expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
      expect(Object.getOwnPropertyDescriptor(value, '__proto__')?.value).toEqual({ a: 1 });
    }
  });

  test('64 deep, 1 MiB, 1e300 when every integer may pass', () => {
    expect(() => parseStrict('['.repeat(64) + ']'.repeat(64))).not.toThrow();
    expect(parseStrict('"' + 'x'.repeat(1_048_574) + '"')).toHaveLength(1_048_574);
    expect(parseStrict('[1e300,1E30]', { integers: 'any' })).toEqual([1e300, 1e30]);
  });
});

/** The text of a value with unnecessary white space and escapes, as other programs write it. */
const looseText: fc.Arbitrary<{ value: unknown; text: string }> = fc
  .tuple(jsonValue, fc.infiniteStream(fc.nat(9)))
  .map(([value, choices]) => ({
    value: copyJson(value),
    text: loosely(value, () => choices.next().value),
  }));

function loosely(value: unknown, choose: () => number): string {
  const gap = () => ['', '', ' ', '\n', '\t\r', '  '][choose()] ?? '';
  if (typeof value === 'string') return gap() + looseString(value, choose) + gap();
  if (Array.isArray(value))
    return `${gap()}[${value.map((item) => loosely(item, choose)).join(',') || gap()}]${gap()}`;
  if (typeof value !== 'object' || value === null)
    return gap() + (Object.is(value, -0) ? '-0' : JSON.stringify(value)) + gap();
  const members = Object.entries(value).map(
    ([name, inner]) => `${gap()}${looseString(name, choose)}${gap()}:${loosely(inner, choose)}`,
  );
  return `${gap()}{${members.join(',') || gap()}}${gap()}`;
}

function looseString(text: string, choose: () => number): string {
  const written = Array.from(text, (character) => {
    if (choose() === 0) return escaped(character);
    if (character === '/' && choose() < 5) return '\\/';
    return JSON.stringify(character).slice(1, -1);
  });
  return `"${written.join('')}"`;
}

/** Every unit as `\u` and four digits. */
function escaped(character: string): string {
  const units = Array.from({ length: character.length }, (_, i) => character.charCodeAt(i));
  return units.map((unit) => '\\u' + unit.toString(16).padStart(4, '0')).join('');
}

describe('fuzz', () => {
  test('loose text is read as intended by both paths through the parser', () => {
    fc.assert(
      fc.property(looseText, ({ value, text }) => {
        expect(canonicalize(parseStrict(text))).toBe(canonicalize(value));
        expect(canonicalize(parseStrict(Buffer.from(text)))).toBe(canonicalize(value));
        expect(new JsonReader(text, DEFAULT_LIMITS).read()).toEqual(parseStrict(text));
      }),
      { numRuns: 3_000 },
    );
  });

  test('it agrees with JSON.parse on canonical text, including field order', () => {
    fc.assert(
      fc.property(jsonValue, (value) => {
        const text = canonicalize(value);
        // The platform itself misreads some names with escapes (nodejs/node#63785); the test above
        // covers those.
        fc.pre(!hasEscapedName(value));
        expect(JSON.stringify(parseStrict(text))).toBe(JSON.stringify(JSON.parse(text)));
      }),
      { numRuns: 3_000 },
    );
  });

  test('it accepts no text that JSON.parse refuses; the fast path agrees', () => {
    const pieces = fc.constantFrom(
      ...[
        '{',
        '}',
        '[',
        ']',
        ',',
        ':',
        '"',
        '\\',
        '\\u0061',
        '\\ud83d',
        '\\ude00',
        'a',
        '"a"',
        '"b":',
        '"\\u0061":',
      ],
      ...[
        '0',
        '-',
        '1',
        '.5',
        'e5',
        'E400',
        '9007199254740993',
        'true',
        'null',
        ' ',
        '\n',
        '\ufeff',
        '\ud83d',
        'é',
      ],
    );
    const soup = fc.array(pieces, { maxLength: 12 }).map((parts) => parts.join(''));
    const cut = fc
      .tuple(looseText, fc.nat(), fc.nat(), pieces)
      .map(([{ text }, at, length, piece]) =>
        splice(text, at % (text.length + 1), length % 4, piece),
      );
    fc.assert(
      fc.property(fc.oneof(soup, cut), (text) => {
        const strict = outcome(() => parseStrict(text));
        expect(strict).toBe(outcome(() => new JsonReader(text, DEFAULT_LIMITS).read()));
        if (strict.startsWith('value')) expect(() => JSON.parse(text)).not.toThrow();
        if (strict.startsWith('syntax') || strict.startsWith('byte_order'))
          expect(() => JSON.parse(text)).toThrow();
      }),
      { numRuns: 8_000 },
    );
  });

  test('any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 12 }), fc.boolean(), (bytes, quoted) => {
        const text = Buffer.from(quoted ? [0x22, ...bytes, 0x22] : bytes);
        const strict = outcome(() => parseStrict(text));
        if (strict.startsWith('value'))
          expect(Buffer.from(text.toString()).equals(text)).toBe(true);
        else expect(strict).toMatch(/^[a-z_0-9]+ at /);
      }),
      { numRuns: 5_000 },
    );
  });

  test('duplicates are found wherever they are', () => {
    fc.assert(
      fc.property(
        jsonValue,
        fc.uniqueArray(jsonText, { minLength: 1, maxLength: 6 }),
        fc.nat(),
        (value, names, at) => {
          const doubled = [...names, names[at % names.length]!];
          const text = `[{"x":{${doubled.map((name) => `${JSON.stringify(name)}:${canonicalize(value)}`).join(',')}}}]`;
          const error = thrownBy(() => parseStrict(text, { depthMax: 200 }));
          expect(canonFault(error)).toBe('duplicate_key');
        },
      ),
    );
  });
});

function splice(text: string, at: number, length: number, piece: string): string {
  return text.slice(0, at) + piece + text.slice(at + length);
}

function outcome(parse: () => unknown): string {
  try {
    return `value ${canonicalize(parse())}`;
  } catch (error) {
    const { code, evidence } = thrownBy(() => {
      throw error;
    });
    return `${code} at ${evidence['offset']} ${evidence['pointer']}`;
  }
}

test('an escaped name is not confused with an earlier name (nodejs/node#63785)', () => {
  expect(Object.keys(parseStrict('{"h":[],"\\\\nx":0}') as object)).toEqual(['h', '\\nx']);
  for (const [text, name] of [
    ['{"h":1,"\\nxy":0}', '\nxy'],
    ['{"h":1,"\\\\nx":0}', '\\nx'],
    ['{"h":1,"\\u000axy":0}', '\nxy'],
  ] as const) {
    JSON.parse('{"h":[],"\\\\nx":0}');
    expect(Object.keys(parseStrict(text) as object)).toEqual(['h', name]);
  }
});

function hasEscapedName(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return value.some(hasEscapedName);
  return Object.entries(value).some(
    ([name, member]) => JSON.stringify(name).includes('\\') || hasEscapedName(member),
  );
}
