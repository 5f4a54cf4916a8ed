import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { patternText } from './footprint.ts';
import { strictSchema } from './schema.ts';
import {
  hasErased,
  hasSensitivePart,
  isErased,
  isSensitive,
  sensitive,
  sensitivePlaces,
} from './sensitive.ts';

const HASH = 'a'.repeat(64);
const name = sensitive(z.string());

const placesOf = (schema: z.ZodType): string[] =>
  sensitivePlaces(strictSchema(schema, 'state')).map((pattern) => patternText(pattern));

describe('a sensitive schema', () => {
  test('accepts its own values, or the marker of an erasure', () => {
    for (const good of ['Ann', '', { $erased: HASH }])
      expect(name.safeParse(good).success).toBe(true);
    for (const bad of [
      1,
      {},
      { $erased: 'x' },
      { $erased: HASH, more: 1 },
      { $erased: HASH.toUpperCase() },
    ])
      expect(name.safeParse(bad).success).toBe(false);
    const within = z.object({ why: name, who: sensitive(z.object({ age: z.number() })) });
    expect(within.safeParse({ who: { age: '3' } }).error?.issues).toMatchObject([
      { path: ['why'], message: 'Invalid input: expected string, received undefined' },
      { path: ['who'], message: '/age: Invalid input: expected number, received string' },
    ]);
    expect([isSensitive(name), isSensitive(z.string())]).toEqual([true, false]);
  });

  test.each<[string, z.ZodType, string[]]>([
    ['a member', z.object({ a: name, b: z.string() }), ['/a']],
    ['members of members', z.object({ a: z.object({ b: name, c: name }) }), ['/a/b', '/a/c']],
    ['members of a record', z.object({ a: z.record(z.string(), name) }), ['/a/*']],
    ['elements', z.object({ a: z.array(z.object({ b: name })) }), ['/a/*/b']],
    ['one that may be absent', z.object({ a: name.optional(), b: z.nullable(name) }), ['/a', '/b']],
    ['one whose type is read-only', z.object({ a: name.readonly() }), ['/a']],
    ['one inside another', z.object({ a: sensitive(z.object({ b: name })) }), ['/a']],
    ['none', z.object({ a: z.union([z.string(), z.number()]), b: z.tuple([z.string()]) }), []],
  ])('is found as %s', (_what, schema, places) => {
    expect(placesOf(schema)).toEqual(places);
  });

  test.each<[string, z.ZodType, RegExp]>([
    ['the whole state', sensitive(z.object({})), /whole state is marked sensitive/],
    [
      'a part of a union',
      z.object({ a: z.union([z.number(), name]) }),
      /Mark the whole union or tuple/,
    ],
    [
      'deep in a part of a union',
      z.object({ a: z.union([z.number(), z.object({ b: name })]) }),
      /Mark the whole union or tuple/,
    ],
    ['a part of a tuple', z.object({ a: z.tuple([name]) }), /Mark the whole union or tuple/],
    [
      'the rest of a tuple',
      z.object({ a: z.tuple([z.string()], name) }),
      /Mark the whole union or tuple/,
    ],
  ])('can’t be %s', (_what, schema, saying) => {
    expect(() => placesOf(schema)).toThrow(saying);
  });
});

test.each<[boolean, z.ZodType]>([
  [true, name],
  [true, z.object({ a: z.object({ b: name.optional() }) })],
  [true, z.object({ a: z.array(name) })],
  [true, z.object({ a: z.record(z.string(), name) })],
  [true, z.object({ a: z.union([z.number(), name]) })],
  [true, z.object({ a: z.tuple([z.number()], name) })],
  [true, z.object({ a: name.default('x') })],
  [true, z.object({ a: z.number() }).extend({ b: name })],
  [false, z.object({ a: z.string(), b: z.array(z.union([z.string(), z.null()])) })],
])('arguments have a sensitive part: %s', (has, schema) => {
  expect(hasSensitivePart(schema)).toBe(has);
});

test('something erased is found anywhere in a value, and nothing else is', () => {
  const erased = { $erased: HASH };
  for (const value of [erased, [erased], { a: { b: [1, erased] } }])
    expect(hasErased(value)).toBe(true);
  for (const value of [null, 1, 'x', {}, { $erased: 'x' }, { $erased: HASH, x: 1 }, [[HASH]]])
    expect([hasErased(value), isErased(value)]).toEqual([false, false]);
});
