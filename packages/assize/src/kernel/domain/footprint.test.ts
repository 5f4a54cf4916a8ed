import { describe, expect, test } from 'vitest';
import type { Change } from './change.ts';
import {
  bindTemplate,
  changeOutside,
  contains,
  overlaps,
  parseTemplate,
  patternFromText,
  patternText,
} from './footprint.ts';

const add = { op: 'add', appends: false, list: false } as const;
const replace = { op: 'replace', appends: false, list: false } as const;
const remove = { op: 'remove', appends: false, list: false } as const;
const append = { op: 'add', appends: true, list: false } as const;
const newList = { op: 'add', appends: false, list: true } as const;

interface Sort {
  readonly op: Change['op'];
  readonly appends: boolean;
  readonly list: boolean;
}

function allows(patterns: readonly string[], path: string, { op, appends, list }: Sort): boolean {
  const keys = path.split('/').slice(1);
  const change = { op, keys, parent: keys.slice(0, -1), value: list ? [] : 0, appends };
  return changeOutside(patterns.map(patternFromText), [change]) === undefined;
}

describe('a footprint’s text', () => {
  test.each(['', '/a', '/a/b', '/orders/*', '/orders/*/total', '/log/-', '/a~1b/~0', '/'])(
    '%s',
    (text) => {
      expect(patternText(patternFromText(text))).toBe(text);
    },
  );

  test('parameters are whole segments, filled as data', () => {
    const template = parseTemplate('/spent/{agent}/x{no}');
    expect(patternText(bindTemplate(template, { agent: 'a/b' }))).toBe('/spent/a~1b/x{no}');
    // A star, or another parameter, in a value is only a key.
    expect(
      contains([bindTemplate(parseTemplate('/p/{x}'), { x: '*' })], patternFromText('/p/y')),
    ).toBe(false);
    expect(() => bindTemplate(template, {})).toThrow(/needs the parameter agent/);
    expect(() => bindTemplate(parseTemplate('/p/{constructor}'), {})).toThrow(
      /needs the parameter constructor/,
    );
  });

  test.each(['a', 'a/b', '/a/~2', '/-', '#/a'])('cannot be %s', (text) => {
    expect(() => parseTemplate(text)).toThrow();
  });
});

describe('the changes that a footprint allows', () => {
  test.each<[string[], string, Sort, boolean]>([
    [['/a'], '/a', replace, true],
    [['/a'], '/a', remove, true],
    [['/a'], '/a/b/c', remove, true],
    [['/a'], '/ab', add, false],
    [['/a/b'], '/a', replace, false],
    [['/a/b'], '/a', newList, false],
    [['/a/*'], '/a/x', add, true],
    [['/a/*'], '/a', add, false],
    [['/a/*/n'], '/a/x/n', replace, true],
    [['/a/*/n'], '/a/x', add, false],
    [['/a/*/n', '/a/x'], '/a/x/m', add, true],
    [['/a/*/n', '/a/x/m'], '/a/x/n', add, true],
    [[''], '/anything', remove, true],
    [[], '/a', add, false],
    [['/log/-'], '/log/3', append, true],
    [['/log/-'], '/log/3', add, false],
    [['/log/-'], '/log/3', replace, false],
    [['/log/-'], '/log/3', remove, false],
    [['/log/-'], '/log/3/x', append, false],
    [['/log/-'], '/log', newList, true],
    [['/log/-'], '/log', add, false],
    [['/log/-'], '/log', replace, false],
    [['/log/-'], '/log', remove, false],
    [['/logs/*/-'], '/logs/a/0', append, true],
    [['/logs/*/-'], '/logs/a', newList, true],
    [['/logs/*/-'], '/logs', newList, false],
    [['/log/-', '/log/*/seen'], '/log/0/seen', replace, true],
    [['/log/-', '/log/*/seen'], '/log/0', replace, false],
  ])('%j and %s %o: %s', (patterns, path, change, expected) => {
    expect(allows(patterns, path, change)).toBe(expected);
  });
});

test.each<[string, string, boolean]>([
  ['/a', '/a', true],
  ['/a', '/a/b', true],
  ['/a/b', '/a/c', false],
  ['/a/*', '/a/c', true],
  ['/*/x', '/a/*', true],
  ['/*/x', '/a/y', false],
  ['', '/a', true],
  ['/log/-', '/log/*', true],
  ['/ab', '/a', false],
])('overlaps %s %s: %s', (a, b, expected) => {
  expect(overlaps(patternFromText(a), patternFromText(b))).toBe(expected);
  expect(overlaps(patternFromText(b), patternFromText(a))).toBe(expected);
});

test.each<[string[], string, boolean]>([
  [['/a'], '/a/b', true],
  [['/a/b'], '/a', false],
  [['/a/*'], '/a/b', true],
  [['/a/b'], '/a/*', false],
  [['/log'], '/log/-', true],
  [['/log/-'], '/log', false],
  [['/log/-'], '/log/-', true],
  [['/log/-'], '/log/*', false],
  [['/*/-'], '/log/-', true],
  [[], '/a', false],
  [[''], '/log/-', true],
])('%j contains %s: %s', (outer, inner, expected) => {
  expect(contains(outer.map(patternFromText), patternFromText(inner))).toBe(expected);
});
