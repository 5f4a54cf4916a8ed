import { describe, expect, test } from 'vitest';
import { copyJson } from '#canon';
import { compileScope, EVERYTHING, patternFromText } from '../domain/footprint.ts';
import { isIndex } from '../domain/list-index.ts';
import { FootprintFault } from '../errors.ts';
import { hasMember, view } from './view.ts';

const state = {
  b: { list: [{ n: 1 }, { n: 2 }], x: 1 },
  a: 'text',
  maybe: null,
  numbers: [3, 1, 2],
};

function seen(...patterns: string[]): any {
  return view(structuredClone(state), compileScope(patterns.map(patternFromText)));
}

describe('a view', () => {
  test.each<[string, (s: any) => unknown]>([
    ['set', (s) => (s.a = 1)],
    ['set further down', (s) => (s.b.list[0].n = 2)],
    ['add', (s) => (s.fresh = 1)],
    ['delete', (s) => delete s.a],
    ['defineProperty', (s) => Object.defineProperty(s, 'a', { value: 1 })],
    ['Object.assign', (s) => Object.assign(s, { a: 1 })],
    ['push', (s) => s.numbers.push(1)],
    ['sort', (s) => s.numbers.sort()],
    ['length', (s) => (s.numbers.length = 0)],
    ['a symbol', (s) => (s[Symbol('x')] = 1)],
  ])('can only be read: %s', (_name, statement) => {
    const live = structuredClone(state);
    expect(() => statement(view(live, EVERYTHING))).toThrow(FootprintFault);
    expect(live).toEqual(state);
  });

  test('has no prototype to set and can be neither frozen nor sealed', () => {
    const all = view(structuredClone(state), EVERYTHING);
    expect(() => Object.setPrototypeOf(all, {})).toThrow(TypeError);
    expect(() => Object.freeze(all)).toThrow(TypeError);
    expect(Reflect.preventExtensions(all)).toBe(false);
  });

  test('reads like the value it shows', () => {
    const all: any = view(structuredClone(state), EVERYTHING);
    expect(JSON.parse(JSON.stringify(all))).toEqual(state);
    expect(copyJson(all)).toEqual(state);
    expect({ ...all.b }).toEqual(state.b);
    expect([...all.numbers].sort()).toEqual([1, 2, 3]);
    expect(all.numbers.toSorted()).toEqual([1, 2, 3]);
    expect(all.b.list.map((item: any) => item.n)).toEqual([1, 2]);
    expect(all.b.list.indexOf(all.b.list[1])).toBe(1);
    expect(all.numbers.includes(2)).toBe(true);
    expect(all.numbers.concat([9])).toEqual([3, 1, 2, 9]);
    expect([all.b.list].flat().length).toBe(2);
    expect(Object.keys(all)).toEqual(['a', 'b', 'maybe', 'numbers']);
    expect(Math.max(...all.numbers)).toBe(3);
    expect(all.toString).toBeUndefined();
    expect(all[Symbol.iterator]).toBeUndefined();
    expect(Symbol.iterator in all.numbers).toBe(true);
    expect(Array.isArray(all.numbers)).toBe(true);
  });

  test('of a part shows that part and faults on the rest, by name', () => {
    const part = seen('/b/list/*/n');
    expect(copyJson(part)).toEqual({ b: { list: [{ n: 1 }, { n: 2 }] } });
    expect(() => part.a).toThrow('/a is outside the footprint');
    expect(() => part.b.x).toThrow('/b/x is outside the footprint');
    expect(() => part.b.list[0].m).toThrow('/b/list/0/m is outside the footprint');
    expect(() => 'x' in part.b).toThrow(FootprintFault);
    expect(Object.hasOwn(part, 'a')).toBe(false);
    expect(JSON.stringify(part)).toBe('{"b":{"list":[{"n":1},{"n":2}]}}');
  });

  test('omits a plain value if its footprint goes deeper', () => {
    const part = seen('/a/inner', '/maybe/inner', '/numbers/*/inner');
    expect(part.a).toBeUndefined();
    expect(part.maybe).toBeUndefined();
    expect('a' in part).toBe(false);
    expect(Object.keys(part)).toEqual(['numbers']);
    // In a list the index stays, or the others would move.
    expect(copyJson(part)).toEqual({ numbers: [null, null, null] });
  });

  test('of some places of a list does not tell how long it is', () => {
    const { numbers } = seen('/numbers/1', '/numbers/9');
    expect([numbers[1], numbers[9], '1' in numbers, Array.isArray(numbers)]).toEqual([
      1,
      undefined,
      true,
      true,
    ]);
    for (const read of [
      () => numbers.length,
      () => Object.getOwnPropertyDescriptor(numbers, 'length'),
      () => [...numbers],
      () => numbers.map(String),
      () => numbers.at(-1),
      () => Object.keys(numbers),
      () => JSON.stringify(numbers),
      () => seen('/numbers/length').numbers.length,
    ]) {
      expect(read).toThrow('/numbers/* is outside the footprint');
    }
    expect(seen('/numbers/*').numbers.length).toBe(3);
    expect(seen('/numbers/*/x').numbers.length).toBe(3);
  });

  test('of nothing is empty', () => {
    expect(copyJson(seen())).toEqual({});
    expect(copyJson(seen('/nowhere/x'))).toEqual({});
  });

  test('of the whole state, by the empty pointer', () => {
    expect(copyJson(seen(''))).toEqual(state);
  });
});

test('isIndex tells list indexes from other names', () => {
  const yes = ['0', '1', '9', '10', '4294967295', '123456789012345'];
  const no = [
    '',
    '-',
    '-1',
    '01',
    '00',
    '1e3',
    '1.0',
    ' 1',
    'length',
    '1234567890123456',
    'x1',
    '٣',
  ];
  expect([yes.every(isIndex), no.some(isIndex)]).toEqual([true, false]);
});

test('the members of a list are its elements', () => {
  const list = ['a', 'b'];
  expect(['0', '1'].every((key) => hasMember(list, key))).toBe(true);
  expect(['2', '-', 'length', 'at', '01', ''].some((key) => hasMember(list, key))).toBe(false);
  expect(hasMember({ length: 1, __proto__: { at: 1 } }, 'length')).toBe(true);
  expect(hasMember({}, 'constructor')).toBe(false);
});
