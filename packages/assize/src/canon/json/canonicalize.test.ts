import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import oracle from 'canonicalize';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { dataPath, hasData } from '../../../../../tests/data.ts';
import { jsonName, jsonNumber, jsonValue } from '../../../../../tests/json-values.ts';
import { canonFault } from '../../../../../tests/support/canon-fault.ts';
import { thrownBy } from '../../../../../tests/thrown-by.ts';
import { canonicalize } from './canonicalize.ts';
import { parseStrict } from './parse-strict.ts';

const vectors = hasData('vectors', 'jcs');

describe('the published vectors of RFC 8785', () => {
  if (!vectors) test.skip(`no data at ${dataPath('vectors', 'jcs')}`, () => undefined);

  const names = vectors ? readdirSync(dataPath('vectors', 'jcs', 'input')) : [];
  test.each(names)('%s', (name) => {
    const value: unknown = JSON.parse(
      readFileSync(dataPath('vectors', 'jcs', 'input', name), 'utf8'),
    );
    const text = canonicalize(value, { integers: 'any' });
    expect(text).toBe(readFileSync(dataPath('vectors', 'jcs', 'output', name), 'utf8'));
    const hex = readFileSync(
      dataPath('vectors', 'jcs', 'outhex', name.replace('.json', '.txt')),
      'utf8',
    );
    expect(Buffer.from(text).toString('hex')).toBe(hex.replace(/\s/g, ''));
  });

  test.runIf(vectors)('are all there', () => {
    expect(names.length).toBe(6);
  });

  test.runIf(vectors)('a million generated numbers', () => {
    const file = JSON.parse(
      readFileSync(dataPath('vectors', 'jcs', 'numbers.json'), 'utf8'),
    ) as NumbersFile;
    const digest = createHash('sha256');
    let count = 0;
    for (const lines of numberLines(file.static)) {
      digest.update(lines.join(''));
      count += lines.length;
      const expected = file.sha256[String(count)];
      if (expected !== undefined)
        expect(digest.copy().digest('hex'), `the first ${count} lines`).toBe(expected);
      if (count === 1_000_000) break;
    }
    expect(count).toBe(1_000_000);
  });
});

interface NumbersFile {
  readonly static: readonly string[];
  readonly sha256: Readonly<Record<string, string>>;
}

/** Lines as `about` in numbers.json describes them, a thousand at a time. */
function* numberLines(fixed: readonly string[]): Generator<string[]> {
  let lines: string[] = [];
  for (const bits of numberBits(fixed)) {
    bytes.setBigUint64(0, bits);
    lines.push(`${bits.toString(16)},${canonicalize(bytes.getFloat64(0), { integers: 'any' })}\n`);
    if (lines.length < 1_000) continue;
    yield lines;
    lines = [];
  }
}

const bytes = new DataView(new ArrayBuffer(8));

function* numberBits(fixed: readonly string[]): Generator<bigint> {
  for (const hex of fixed) yield BigInt('0x' + hex);
  for (let i = 0n; i < 2_000n; i++) yield 0x0010000000000000n + i;
  for (let block = Buffer.alloc(32); ; ) {
    block = createHash('sha256').update(block).digest();
    for (let at = 0; at < 32; at += 8) {
      const value = block.readDoubleLE(at);
      if (value !== 0 && Number.isFinite(value)) yield block.readBigUInt64LE(at);
    }
  }
}

describe('against the package canonicalize', () => {
  test('every value that has a canonical text has the same one', () => {
    fc.assert(
      fc.property(jsonValue, (value) => {
        expect(canonicalize(value)).toBe(oracle(value));
      }),
      { numRuns: 4_000 },
    );
  });

  test('the same objects again and again, in every order of their names', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(jsonName, { minLength: 1, maxLength: 9 }),
        fc.infiniteStream(jsonNumber),
        (names, numbers) => {
          for (let turn = 0; turn < 6; turn++) {
            const object = Object.fromEntries(names.map((name) => [name, numbers.next().value]));
            expect(canonicalize([object, { inner: object }])).toBe(
              oracle([object, { inner: object }]),
            );
            names.push(names.shift()!);
          }
        },
      ),
      { numRuns: 1_000 },
    );
  });

  test('more shapes than are kept, met in turns, and then the first ones again', () => {
    const shapes = Array.from({ length: 3_000 }, (_, i) => ({
      ['b' + (i % 61)]: i,
      ['a' + (i % 47)]: 1,
      [`c${i}`]: null,
    }));
    for (let turn = 0; turn < 3; turn++) {
      for (const shape of shapes) expect(canonicalize(shape)).toBe(oracle(shape));
    }
    for (let i = 0; i < 20; i++) expect(canonicalize(shapes[i])).toBe(oracle(shapes[i]));
  });

  test('objects with many members', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(jsonName, { minLength: 15, maxLength: 90, size: 'max' }),
        (names) => {
          const object = Object.fromEntries(names.map((name, i) => [name, i]));
          for (let turn = 0; turn < 3; turn++) expect(canonicalize(object)).toBe(oracle(object));
        },
      ),
    );
  });

  test('numbers of every size', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        expect(canonicalize(value, { integers: 'any' })).toBe(oracle(value));
      }),
      { numRuns: 5_000 },
    );
    for (let value = 1; value < 2 ** 33; value *= 10) {
      for (const near of [value - 1, value, value + 1, -value])
        expect(canonicalize(near)).toBe(JSON.stringify(near));
    }
  });

  test('strings of every length around the points where the writer switches', () => {
    for (const filler of ['a', 'é', '"', '\n', '\u{1f600}', '\u007f', '\u2028']) {
      for (let length = 0; length < 90; length++) {
        const value = 'x'.repeat(length) + filler + 'y'.repeat(length % 7);
        expect(canonicalize([value, { [value]: value }])).toBe(oracle([value, { [value]: value }]));
      }
    }
  });

  test('texts larger than the buffer, and small ones after them', () => {
    for (const length of [65_530, 65_536, 200_000, 5_000_000, 3]) {
      const value = { text: 'é'.repeat(length), list: Array.from({ length: 100 }, (_, i) => i) };
      expect(canonicalize(value, { bytesMax: 20_000_000 })).toBe(
        JSON.stringify({ list: value.list, text: value.text }),
      );
    }
  });
});

describe('laws', () => {
  test('reading a canonical text and writing it again changes nothing', () => {
    fc.assert(
      fc.property(jsonValue, (value) => {
        const text = canonicalize(value);
        expect(canonicalize(parseStrict(text))).toBe(text);
      }),
      { numRuns: 2_000 },
    );
  });

  test('the order in which members were made makes no difference', () => {
    fc.assert(
      fc.property(fc.dictionary(jsonName, jsonValue, { maxKeys: 8 }), (object) => {
        const reversed = Object.fromEntries(Object.entries(object).reverse());
        expect(canonicalize(reversed)).toBe(canonicalize(object));
      }),
    );
  });

  test('names are ordered by UTF-16 code units, not by code points', () => {
    expect(canonicalize({ '\ufb33': 1, '\u{1f600}': 2 })).toBe('{"\u{1f600}":2,"\ufb33":1}');
  });

  test('names that look like indices are ordered as texts', () => {
    expect(canonicalize({ 9: 1, 10: 2, 1: 3 })).toBe('{"1":3,"10":2,"9":1}');
  });

  test('__proto__ is a member', () => {
    const value: unknown = JSON.parse('{"b":1,"__proto__":{"x":null}}');
    for (let turn = 0; turn < 4; turn++)
      expect(canonicalize(value)).toBe('{"__proto__":{"x":null},"b":1}');
  });

  test('−0 is 0', () => {
    expect(canonicalize([-0, { a: -0 }])).toBe('[0,{"a":0}]');
  });

  test('a toJSON that is data is data', () => {
    expect(canonicalize({ toJSON: 'no' })).toBe('{"toJSON":"no"}');
  });

  test('nothing is mutated: frozen values are fine', () => {
    const value = Object.freeze({ b: Object.freeze([1, Object.freeze({})]), a: -0 });
    expect(canonicalize(value)).toBe('{"a":0,"b":[1,{}]}');
    expect(Object.is(value.a, -0)).toBe(true);
  });

  test('additions to Object.prototype are ignored', () => {
    const polluted = Object.prototype as { toJSON?: unknown };
    polluted.toJSON = () => 'gone';
    try {
      expect(canonicalize({ a: { b: 1 } })).toBe('{"a":{"b":1}}');
    } finally {
      delete polluted.toJSON;
    }
  });
});

describe('a call inside a call', () => {
  test('a Proxy trap that calls canonicalize does not disturb the outer text', () => {
    const inner = new Proxy(
      { x: 1 },
      {
        getOwnPropertyDescriptor: (target, name) => {
          expect(canonicalize({ again: [name as string] })).toBe('{"again":["x"]}');
          return Reflect.getOwnPropertyDescriptor(target, name);
        },
      },
    );
    expect(canonicalize({ a: 'before', b: inner, c: 'after' })).toBe(
      '{"a":"before","b":{"x":1},"c":"after"}',
    );
  });

  test('an error does not leave anything behind', () => {
    expect(canonFault(thrownBy(() => canonicalize({ a: ['x', undefined] })))).toBe('undefined');
    expect(canonicalize({ z: 1 })).toBe('{"z":1}');
  });
});
