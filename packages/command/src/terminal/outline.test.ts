import type { Json } from 'assize/internal/base';
import { describe, expect, test } from 'vitest';
import { isLong, outlineOf } from './outline.ts';

describe('an outline', () => {
  test('gives the size of each part, and plain values in short form', () => {
    const value: Json = {
      '': null,
      'a/b~': { x: 1, y: [] },
      b: { z: {} },
      list: Array.from({ length: 1_200 }, () => 0),
      text: 'x'.repeat(200),
    };
    expect(outlineOf(value, '/top')).toEqual({
      parts: [
        { pointer: '/top/', what: 'null' },
        { pointer: '/top/a~1b~0', what: '2 fields' },
        { pointer: '/top/b', what: '1 field' },
        { pointer: '/top/list', what: 'a list of 1,200' },
        { pointer: '/top/text', what: `"${'x'.repeat(59)} … 142 more characters` },
      ],
      more: 0,
    });
  });

  test('of many parts lists the first, and counts the rest', () => {
    const { parts, more } = outlineOf(
      Array.from({ length: 1_000 }, (_, i) => i),
      '',
    );
    expect([parts.length, parts[39], more]).toEqual([40, { pointer: '/39', what: '39' }, 960]);
  });

  test('of a value that has no parts is the value', () => {
    expect(outlineOf('x', '')).toEqual({ parts: [{ pointer: '(all)', what: '"x"' }], more: 0 });
    expect(outlineOf({}, '')).toEqual({ parts: [], more: 0 });
  });
});

describe('a value is long', () => {
  test.each<[string, Json, boolean]>([
    ['a short text', 'x', false],
    ['a text of some screens', 'x'.repeat(10_000), true],
    [
      'many members',
      Object.fromEntries(Array.from({ length: 1_000 }, (_, i) => [`key ${i}`, i])),
      true,
    ],
    ['few members', { a: 1, b: [1, 2, 3] }, false],
    ['long names', { ['x'.repeat(10_000)]: 1 }, true],
    [
      'deep nesting of little',
      Array.from({ length: 40 }).reduce<Json>((inner) => [inner], 1),
      false,
    ],
  ])('%s', (_, value, long) => {
    expect(isLong(value)).toBe(long);
  });
});
