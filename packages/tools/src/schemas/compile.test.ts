import type { Json } from 'assize/internal/base';
import { expect, test } from 'vitest';
import { compiled } from './compile.ts';

const both = (schema: Json) =>
  [compiled(schema, { isOnlyCheck: true }), compiled(schema, { isOnlyCheck: false })] as const;

test('a pattern is read with the flag u, and without it where only that works', () => {
  const schema = (pattern: string) => ({ type: 'string', pattern });
  for (const { faultOf } of both(schema('^https\\:\\/\\/')))
    expect([faultOf!('https://a'), faultOf!('http://a')]).toEqual([
      undefined,
      expect.stringContaining('pattern'),
    ]);
  for (const { faultOf } of both(schema('^\\p{L}$')))
    expect([faultOf!('é'), faultOf!('5')]).toEqual([undefined, expect.stringContaining('pattern')]);
  const [own, foreign] = both({ properties: { 'a/b': schema('(?i)^x') } });
  expect(own.unusable).toContain('at /properties/a~1b, "(?i)^x" is not a regular expression');
  expect(foreign.faultOf!({ 'a/b': 'y' })).toBeUndefined();
});

test.each<[what: string, schema: Json, why: string]>([
  [
    'a reference to nothing',
    { properties: { a: { $ref: '#/$defs/p' } } },
    'at /properties/a, $ref names #/$defs/p',
  ],
  [
    'an unknown draft',
    { $schema: 'https://example.com/mine' },
    'the draft "https://example.com/mine" is not known',
  ],
  [
    'an unknown type',
    { properties: { a: { type: 'horse' } } },
    'at /properties/a/type, the schema must be equal to',
  ],
  ['a null that must be a list', { required: null }, 'at /required, the schema must be array'],
  [
    'a keyword of the library',
    { properties: { a: { $async: true } } },
    'at /properties/a, $async is not supported',
  ],
  [
    'a schema of draft-04 without its name',
    { properties: { a: { minimum: 1, exclusiveMinimum: true } } },
    'at /properties/a',
  ],
  ['a list', [], 'it must be an object'],
])('a schema with %s is refused by its place', (_, schema, why) => {
  for (const { unusable } of both(schema)) expect(unusable).toContain(why);
});

test('a schema that refers to itself without an end matches nothing', () => {
  for (const { faultOf } of both({ allOf: [{ $ref: '#' }] }))
    expect(faultOf!({})).toContain('cannot be checked');
});

test('a format that is not checked is refused where no other check follows', () => {
  for (const format of ['made-up', 'idn-email', 'constructor', '__proto__']) {
    const [own, foreign] = both({ properties: { a: { format } } });
    expect(own.unusable).toBe(
      `at /properties/a, the format ${format} is not checked. Use a pattern`,
    );
    expect(foreign.faultOf!({ a: 'x' })).toBeUndefined();
  }
  for (const { faultOf } of both({ format: 'date' }))
    expect([faultOf!('2026-01-31'), faultOf!('x')]).toEqual([
      undefined,
      expect.stringContaining('format'),
    ]);
});

test.each([100, 3_000, 20_000])(
  'a schema %i deep is refused or compiled, and throws nothing',
  (depth) => {
    const text = `${'{"properties":{"a":'.repeat(depth)}{"type":"string"}${'}}'.repeat(depth)}`;
    for (const { unusable, faultOf } of both(JSON.parse(text))) {
      if (depth > 100) expect(unusable).toContain('it cannot be compiled: Maximum call stack');
      else expect(unusable ?? faultOf!({})).toBeUndefined();
    }
  },
);
