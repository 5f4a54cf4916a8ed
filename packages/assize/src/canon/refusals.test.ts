import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isAssizeError } from '#base';
import { jsonValue } from '../../../../tests/json-values.ts';
import { canonFault } from '../../../../tests/support/canon-fault.ts';
import { thrownBy } from '../../../../tests/thrown-by.ts';
import { canonicalize } from './json/canonicalize.ts';
import { copyJson } from './json/copy.ts';
import type { CanonLimits } from './json/limits.ts';
import { parsePointer } from './json/pointer.ts';

/** `canonicalize` and `copyJson` refuse the same values, with the same code and pointer. */
const WALKS = [
  ['canonicalize', canonicalize],
  ['copyJson', copyJson],
] as const;

class Point {
  x = 1;
}

function withProperty(target: object, name: PropertyKey, descriptor: PropertyDescriptor): object {
  return Object.defineProperty(target, name, descriptor);
}

function holed(list: unknown[], index: number): unknown[] {
  Reflect.deleteProperty(list, index);
  return list;
}

function cyclic(): object {
  const outer: { list: unknown[]; self?: unknown } = { list: [1] };
  outer.list.push({ back: outer.list });
  return outer;
}

function nested(depth: number): unknown {
  let value: unknown = 'bottom';
  for (let i = 0; i < depth; i++) value = i % 2 === 0 ? [value] : { a: value };
  return value;
}

/** Each level holds the next one twice: 2^levels leaves from a few objects. */
function bomb(levels: number): unknown {
  let value: unknown = [];
  for (let i = 0; i < levels; i++) value = [value, value];
  return value;
}

const getter = { get: () => 1, enumerable: true, configurable: true };
const setter = { set: () => undefined, enumerable: true, configurable: true };
const hidden = { value: 1, enumerable: false, configurable: true };

const REFUSALS: readonly [string, () => unknown, string, string, Partial<CanonLimits>?][] = [
  ['NaN', () => Number.NaN, 'not_finite', ''],
  ['NaN inside', () => ({ a: [0, { b: Number.NaN }] }), 'not_finite', '/a/1/b'],
  ['Infinity', () => [Number.POSITIVE_INFINITY], 'not_finite', '/0'],
  ['-Infinity', () => [Number.NEGATIVE_INFINITY], 'not_finite', '/0'],
  [
    'Infinity, any integers',
    () => [Number.POSITIVE_INFINITY],
    'not_finite',
    '/0',
    { integers: 'any' },
  ],
  ['2^53', () => ({ n: 2 ** 53 }), 'unsafe_integer', '/n'],
  ['-2^53', () => ({ n: -(2 ** 53) }), 'unsafe_integer', '/n'],
  ['1e300', () => 1e300, 'unsafe_integer', ''],
  ['bigint', () => ({ n: 1n }), 'bigint', '/n'],
  ['undefined', () => undefined, 'undefined', ''],
  ['undefined member', () => ({ a: undefined }), 'undefined', '/a'],
  ['undefined item', () => [1, undefined], 'undefined', '/1'],
  ['function', () => ({ f: () => 1 }), 'function', '/f'],
  ['function item', () => [() => 1], 'function', '/0'],
  ['class', () => ({ f: Point }), 'function', '/f'],
  ['symbol', () => [Symbol('s')], 'symbol', '/0'],
  ['symbol key', () => ({ a: { [Symbol('s')]: 1 } }), 'symbol_key', '/a'],
  ['symbol key in an otherwise empty object', () => [{ [Symbol.iterator]: 1 }], 'symbol_key', '/0'],
  ['hidden symbol key', () => withProperty({}, Symbol('s'), hidden), 'symbol_key', ''],
  ['symbol key of an array', () => Object.assign([1], { [Symbol('s')]: 1 }), 'symbol_key', ''],
  ['getter', () => ({ a: withProperty({}, 'g', getter) }), 'accessor', '/a/g'],
  ['setter', () => withProperty({}, 's', setter), 'accessor', '/s'],
  ['getter of an item', () => withProperty([0, 1], 1, getter), 'accessor', '/1'],
  ['setter of an item', () => withProperty([0, 1], 0, setter), 'accessor', '/0'],
  ['getter named __proto__', () => withProperty({}, '__proto__', getter), 'accessor', '/__proto__'],
  ['hidden member', () => withProperty({ a: 1 }, 'b', hidden), 'hidden_property', '/b'],
  ['hidden item', () => withProperty([0, 1], 0, hidden), 'hidden_property', '/0'],
  [
    'hidden item, with a member in its stead',
    () => Object.assign(withProperty([0, 1], 0, hidden), { x: 1 }),
    'hidden_property',
    '/0',
  ],
  [
    'hidden last item, with a number in its stead',
    () => Object.assign(withProperty([0, 1], 1, hidden), { '0x1': 1 }),
    'hidden_property',
    '/1',
  ],
  ['toJSON', () => ({ a: { toJSON: () => 1 } }), 'to_json', '/a'],
  ['lone high surrogate', () => ['\ud800'], 'lone_surrogate', '/0'],
  ['lone low surrogate', () => ['a\udc00'], 'lone_surrogate', '/0'],
  ['surrogates the wrong way round', () => ['\udc00\ud800'], 'lone_surrogate', '/0'],
  ['lone surrogate in a string to be escaped', () => ['"\ud800\n'], 'lone_surrogate', '/0'],
  ['lone surrogate in a long string', () => [`${'x'.repeat(5_000)}\ud800`], 'lone_surrogate', '/0'],
  ['lone surrogate in a name', () => ({ a: { '\udead': 1 } }), 'lone_surrogate', '/a/\ufffd'],
  [
    'lone surrogate in a name to be escaped',
    () => ({ '"\ud800': 1 }),
    'lone_surrogate',
    '/"\ufffd',
  ],
  ['Date', () => ({ at: new Date(0) }), 'class_instance', '/at'],
  ['Map', () => ({ m: new Map() }), 'class_instance', '/m'],
  ['Uint8Array', () => [new Uint8Array(2)], 'class_instance', '/0'],
  ['boxed string', () => [Object('text')], 'class_instance', '/0'],
  ['class instance', () => ({ p: new Point() }), 'class_instance', '/p'],
  ['object made from another', () => Object.create({ a: 1 }), 'class_instance', ''],
  ['error', () => [new Error('x')], 'class_instance', '/0'],
  ['array of a subclass', () => [new (class extends Array {})()], 'class_instance', '/0'],
  ['array without a prototype', () => Object.setPrototypeOf([1], null), 'class_instance', ''],
  ['hole', () => holed([1, 2, 3], 1), 'sparse_array', '/1'],
  ['only holes', () => new Array(3), 'sparse_array', '/0'],
  [
    'hole, with a member in its stead',
    () => Object.assign(holed([1, 2, 3], 1), { x: 1 }),
    'sparse_array',
    '/1',
  ],
  ['member of an array', () => ({ a: Object.assign([1], { x: 1 }) }), 'array_property', '/a/x'],
  ['result of a regular expression', () => /a/.exec('a'), 'array_property', '/index'],
  ['member -1 of an array', () => Object.assign([1], { '-1': 1 }), 'array_property', '/-1'],
  ['cycle', cyclic, 'cycle', '/list/1/back'],
  ['65 deep', () => nested(65), 'too_deep', '/0/a'.repeat(32)],
  ['4 deep of 3', () => nested(4), 'too_deep', '/a/0/a', { depthMax: 3 }],
  ['a container of depth 0', () => [], 'too_deep', '', { depthMax: 0 }],
  ['a string too large', () => ({ a: 'x'.repeat(1_048_577) }), 'too_large', '/a'],
  ['a string that is too large in UTF-8', () => ({ a: 'é'.repeat(600_000) }), 'too_large', '/a'],
  ['a string that is too large when escaped', () => ['\u0001'.repeat(200_000)], 'too_large', '/0'],
  ['a name too large', () => ({ ['x'.repeat(1_048_577)]: 1 }), 'too_large', ''],
  ['one byte too many', () => ['1234'], 'too_large', '/0', { bytesMax: 7 }],
  ['one node too many', () => [1, [2]], 'too_many_nodes', '/1/0', { nodesMax: 3 }],
  ['no node allowed', () => null, 'too_many_nodes', '', { nodesMax: 0 }],
  ['a bomb of shared references', () => ({ b: bomb(40) }), 'too_many_nodes', ''],
  ['a bomb of shared names', () => bombOf({ ['x'.repeat(60)]: 1 }), 'too_large', ''],
  ['an array that claims to be huge', () => [new Array(4_000_000_000)], 'sparse_array', '/0/0'],
  [
    'Proxy of an object, when foreign',
    () => ({ p: new Proxy({}, {}) }),
    'proxy',
    '/p',
    { foreign: true },
  ],
  ['Proxy of an array, when foreign', () => new Proxy([], {}), 'proxy', '', { foreign: true }],
  ['Proxy of a class instance', () => new Proxy(new Point(), {}), 'class_instance', ''],
  ['revoked Proxy', revoked, 'unreadable', '/p'],
  ['Proxy that throws', () => [new Proxy({}, { ownKeys: boom })], 'unreadable', '/0'],
  [
    'Proxy that throws when an item is read',
    () => new Proxy([1], { getOwnPropertyDescriptor: boom }),
    'unreadable',
    '',
  ],
  ['Proxy that changes its mind', changing, 'unstable', ''],
];

function bombOf(leaf: object): unknown {
  return Array.from({ length: 100_000 }, () => leaf);
}

function boom(): never {
  throw new TypeError('boom');
}

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return { p: proxy };
}

/** Returns undefined at the first read and 1 at every later one. */
function changing(): object {
  let looks = 0;
  return new Proxy(
    { a: 1 },
    {
      getOwnPropertyDescriptor: () => ({
        ...hidden,
        enumerable: true,
        value: looks++ || undefined,
      }),
    },
  );
}

describe.each(WALKS)('%s refuses', (_, walk) => {
  test.each(REFUSALS)('%s', (_name, make, code, pointer, limits) => {
    const error = thrownBy(() => walk(make(), limits));
    expect(canonFault(error)).toBe(code);
    if (code !== 'too_many_nodes' && code !== 'too_large') expect(error.pointer).toBe(pointer);
    else expect(error.pointer.startsWith(pointer)).toBe(true);
    expect(error.evidence['pointer']).toBe(error.pointer);
    expect(error.message).toMatch(/[a-z].*\.$/);
    expect(isAssizeError(error)).toBe(true);
    expect(() => parsePointer(error.pointer)).not.toThrow();
  });

  test('without calling anything', () => {
    const called: string[] = [];
    const note = (name: string) => () => called.push(name);
    const value = { a: withProperty({}, 'g', { get: note('getter'), enumerable: true }) };
    const list = [withProperty([1], 0, { get: note('item'), enumerable: true })];
    for (const refused of [value, list, { toJSON: note('toJSON') }, { valueOf: note('valueOf') }]) {
      expect(() => walk(refused)).toThrow();
    }
    expect(called).toEqual([]);
  });

  test('an unreadable Proxy with its thrown error as the cause', () => {
    expect(thrownBy(() => walk(new Proxy({}, { ownKeys: boom }))).cause).toBeInstanceOf(TypeError);
  });

  test('the name of a class as evidence', () => {
    expect(thrownBy(() => walk([new Point()])).evidence).toEqual({ pointer: '/0', class: 'Point' });
  });

  test('pointers with escapes', () => {
    expect(thrownBy(() => walk({ 'a/b': { '~': [undefined] } })).pointer).toBe('/a~1b/~0/0');
  });
});

describe.each(WALKS)('%s accepts', (_, walk) => {
  const ACCEPTED: readonly [string, () => unknown, Partial<CanonLimits>?][] = [
    ['64 deep', () => nested(64)],
    ['3 deep of 3', () => nested(3), { depthMax: 3 }],
    ['a scalar at depth 0', () => 1, { depthMax: 0 }],
    ['1 MiB to the byte', () => 'x'.repeat(1_048_574)],
    ['as many bytes as are allowed', () => ['1234', { é: '\n' }], { bytesMax: 20 }],
    ['as many nodes as are allowed', () => [1, [2]], { nodesMax: 4 }],
    ['2^53-1', () => [2 ** 53 - 1, -(2 ** 53 - 1)]],
    ['1e300, any integers', () => 1e300, { integers: 'any' }],
    ['an object without a prototype', () => Object.create(null)],
    ['a Proxy that is well-behaved', () => new Proxy({ a: [1] }, {})],
    ['a Proxy of an array', () => new Proxy([1, { a: 2 }], {})],
    ['an object that is shared', () => Array.from({ length: 100 }, () => JSON_LEAF)],
    ['an array frozen and sealed', () => Object.freeze([1, 2])],
  ];
  const JSON_LEAF = { leaf: [null] };

  test.each(ACCEPTED)('%s', (_name, make, limits) => {
    expect(() => walk(make(), limits)).not.toThrow();
  });
});

test('both walks agree on values that are spoiled anywhere', () => {
  const spoilers = fc.constantFrom<unknown>(
    undefined,
    Number.NaN,
    2 ** 60,
    1n,
    '\ud800',
    new Date(0),
    Symbol('s'),
    boom,
    holed([1], 0),
    { [Symbol('s')]: 1 },
    { '\ud800': 1 },
    withProperty({}, 'g', getter),
    1,
  );
  const value = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4, depthSize: 'medium' },
      { weight: 6, arbitrary: fc.oneof(fc.integer(), fc.string(), fc.constant(null)) },
      { weight: 1, arbitrary: spoilers },
      { weight: 4, arbitrary: fc.array(tie('value'), { maxLength: 4 }) },
      {
        weight: 4,
        arbitrary: fc.dictionary(fc.string({ maxLength: 3 }), tie('value'), { maxKeys: 4 }),
      },
    ),
  })).value;
  const limits = fc.record({
    depthMax: fc.constantFrom(2, 64),
    bytesMax: fc.constantFrom(20, 60, 1_000_000),
    nodesMax: fc.constantFrom(5, 1_000),
  });
  fc.assert(
    fc.property(value, limits, (given, some) => {
      const outcomes = WALKS.map(([, walk]) => {
        try {
          walk(given, some);
          return 'accepted';
        } catch (error) {
          if (!isAssizeError(error)) throw error;
          return `${error.message} at ${error.evidence['pointer']}`;
        }
      });
      expect(outcomes[1]).toBe(outcomes[0]);
    }),
    { numRuns: 5_000 },
  );
});

test('each limit is exact: the needed amount is accepted, one less is refused', () => {
  fc.assert(
    fc.property(jsonValue, (value) => {
      const needs = {
        bytesMax: Buffer.byteLength(canonicalize(value)),
        nodesMax: nodesOf(value),
        depthMax: depthOf(value),
      };
      for (const [, walk] of WALKS) {
        expect(() => walk(value, needs)).not.toThrow();
        expect(thrownBy(() => walk(value, { bytesMax: needs.bytesMax - 1 })).code).toBe(
          'too_large',
        );
        expect(canonFault(thrownBy(() => walk(value, { nodesMax: needs.nodesMax - 1 })))).toBe(
          'too_many_nodes',
        );
        if (needs.depthMax === 0) continue;
        expect(canonFault(thrownBy(() => walk(value, { depthMax: needs.depthMax - 1 })))).toBe(
          'too_deep',
        );
      }
    }),
    { numRuns: 1_000 },
  );
});

function nodesOf(value: unknown): number {
  return innerOf(value).reduce((sum: number, inner) => sum + nodesOf(inner), 1);
}

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...innerOf(value).map(depthOf));
}

function innerOf(value: unknown): unknown[] {
  return typeof value === 'object' && value !== null ? Object.values(value) : [];
}
