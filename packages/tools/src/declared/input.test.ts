import type { Json } from 'assize/internal/base';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { errorOf } from '../../../../tests/support/process/errors.ts';
import { declaredTool } from './index.ts';

type Input = { readonly [keyword: string]: Json };

const toolOf = (input: Input) =>
  declaredTool(
    {
      name: 'shop.order',
      input: { type: 'object', ...input },
      class: { reversibility: 'irreversible', delivery: 'buffered', sink: 'keyed' },
      writes: ['shop:orders'],
      execute: { call: 'take' },
    },
    { take: () => null },
  );

/** A schema with one member of that declaration. */
const a = (said: Json, more: Input = {}): Input => ({ properties: { a: said }, ...more });

const NUMBER = { type: 'number' };
const A_B = { a: 1, b: 1 };
const ONE_A = { a: 1 };
/** Next to the fields, the requirement that at least one of them exists. */
const EITHER = {
  properties: { a: NUMBER, b: NUMBER },
  anyOf: [{ required: ['a'] }, { required: ['b'] }],
};

test.each<[what: string, input: Input, why: string]>([
  [
    'a member that says itself that it is required',
    a({ type: 'string', required: true }),
    'at /properties/a/required',
  ],
  ['a limit that is a text', a({ type: 'integer', minimum: '3' }), 'at /properties/a/minimum'],
  [
    'places that are not a list',
    a({ type: 'array', prefixItems: NUMBER }),
    'at /properties/a/prefixItems',
  ],
  [
    'a form that nobody knows',
    a({ type: 'string', format: 'iri' }),
    'at /properties/a, the format iri is not checked',
  ],
  [
    'a pattern of another language',
    a({ type: 'string', pattern: '(?i)x' }),
    'at /properties/a, "(?i)x"',
  ],
  ['a reference to nothing', a({ $ref: '#/$defs/p' }), 'at /properties/a, $ref names #/$defs/p'],
])('a schema is refused that has %s', (_, input, why) => {
  expect(errorOf(() => toolOf(input))).toMatchObject({
    reason: 'invalid_tool',
    message: expect.stringContaining(
      `The tool shop.order cannot be used: its input cannot be used: ${why}`,
    ),
  });
});

test.each<[what: string, input: Input, taken: Json, refused: Json]>([
  ['of a limit', a({ type: ['integer', 'null'], maximum: 5 }), { a: null }, { a: 6 }],
  [
    'of a choice',
    a({ anyOf: [{ type: 'string', maxLength: 1 }, { type: 'null' }] }),
    { a: null },
    { a: 'ab' },
  ],
  [
    'of choices, each with its members',
    {
      anyOf: ['a', 'b'].map((name) => ({
        type: 'object',
        properties: { [name]: { type: 'number' } },
        required: [name],
        additionalProperties: false,
      })),
    },
    { b: 1 },
    { b: 1, c: 1 },
  ],
  [
    'of one choice, with its members',
    { oneOf: [{ type: 'object', properties: { b: {} }, additionalProperties: false }] },
    { b: 1 },
    { c: 1 },
  ],
  [
    'of one of several, with its members',
    a(
      {},
      {
        oneOf: ['b', 'c'].map((name) => ({
          type: 'object',
          properties: { a: {}, [name]: {} },
          required: [name],
          additionalProperties: false,
        })),
      },
    ),
    { a: 1, b: 1 },
    { a: 1, b: 1, z: 1 },
  ],
  [
    'of a reference',
    a({ $ref: '#/$defs/p' }, { $defs: { p: { type: 'string', maxLength: 1 } } }),
    {},
    { a: 'ab' },
  ],
  ['of names', { propertyNames: { maxLength: 1 } }, { b: 1 }, { ab: 1 }],
  ['of names that are said', { propertyNames: { enum: ['a', 'b'] } }, { b: 1 }, { c: 1 }],
  [
    'of members by such names',
    { propertyNames: { enum: ['a'] }, additionalProperties: NUMBER },
    { a: 1 },
    { a: '1' },
  ],
  [
    'of such names that have to be there',
    z.toJSONSchema(z.record(z.enum(['a', 'b']), z.number())) as Input,
    A_B,
    ONE_A,
  ],
  ['of what one of two wants', { ...EITHER, additionalProperties: false }, { b: 1 }, {}],
  [
    'of others beside what one of two wants',
    { ...EITHER, additionalProperties: false },
    { a: 1 },
    { a: 1, c: 1 },
  ],
  ['of members beside what one of two wants', EITHER, { a: 1 }, { a: 1, b: '1' }],
  [
    'of what exactly one of two wants',
    { properties: EITHER.properties, oneOf: EITHER.anyOf },
    { a: 1 },
    A_B,
  ],
  ['of that in a member', a({ type: 'object', ...EITHER }), { a: { b: 1 } }, { a: {} }],
  ['of members', a({}, { required: ['a'], additionalProperties: false }), { a: 1 }, { a: 1, b: 1 }],
  [
    'of a number of anything',
    a({ type: 'array', items: true, maxItems: 1 }),
    { a: [1] },
    { a: [1, 2] },
  ],
  ['of objects among values', a({ enum: [{ b: 1 }, [2]] }), { a: { b: 1 } }, { a: { b: 2 } }],
  [
    'of an object that is the value',
    a({ const: { b: [1] } }),
    { a: { b: [1] } },
    { a: { b: [2] } },
  ],
  [
    'of a limit beside a reference',
    a({ $ref: '#/$defs/p', maxLength: 1 }, { $defs: { p: {} } }),
    { a: 'b' },
    { a: 'bc' },
  ],
  ['of a limit without a type', a({ maximum: 5 }), { a: 'x' }, { a: 6 }],
  ['of a limit beside values', a({ enum: ['abc', 'a'], maxLength: 1 }), { a: 'a' }, { a: 'abc' }],
  ['of a member that is only required', { required: ['a'] }, { a: 1 }, {}],
  [
    'of letters of all scripts',
    a({ type: 'string', pattern: '^[^\\p{L}]$' }),
    { a: '1' },
    { a: 'é' },
  ],
  [
    'of a part of what is referred to',
    a(
      { $ref: '#/$defs/p/properties/b' },
      { $defs: { p: { properties: { b: { type: 'string' } } } } },
    ),
    { a: 'b' },
    { a: 1 },
  ],
  [
    'of others beside a choice',
    { ...a({}), additionalProperties: false, anyOf: [{ required: ['a'] }] },
    ONE_A,
    A_B,
  ],
  [
    'of others beside patterns',
    { patternProperties: { '^a': {} }, additionalProperties: NUMBER },
    { a: 'x', b: 1 },
    { b: 'x' },
  ],
  [
    'of values that may have any members',
    a({ enum: ['b'], default: 'b', maximum_: 1 }),
    {},
    { a: 'c' },
  ],
])('a schema is taken that checks all %s', (_, input, taken, refused) => {
  const tool = toolOf(input);
  expect(() => tool.parse(taken)).not.toThrow();
  expect(errorOf(() => tool.parse(refused))).toMatchObject({ code: 'bad_input' });
});

test.each<[what: string, input: Input, at: string]>([
  ['of a member', a({ type: 'number', default: 'x' }), 'at /properties/a, the default'],
  ['over a limit', a({ type: 'integer', maximum: 5, default: 6 }), 'at /properties/a, the default'],
  [
    'in a list',
    a({ type: 'array', items: { type: 'string', default: 1 } }),
    'at /properties/a/items, the default',
  ],
  [
    'of a reference',
    a({ $ref: '#/$defs/p', default: 1 }, { $defs: { p: { type: 'string' } } }),
    'at /properties/a, the',
  ],
  [
    'of a reference to all',
    a({ $ref: '#', default: 1 }),
    'at /properties/a, the default does not match',
  ],
  [
    'around a reference to all',
    a({ type: 'array', items: { $ref: '#' }, default: [1] }),
    'at /properties/a, the default does not match',
  ],
  [
    'of one of several',
    { anyOf: [a({ type: 'number', default: 1 })] },
    'at /anyOf/0/properties/a, the default would not be filled in',
  ],
  [
    'of a definition',
    a({ $ref: '#/$defs/p' }, { $defs: { p: { default: 1 } } }),
    'at /$defs/p, the default would not be filled in',
  ],
  ['of all', a({ type: 'number' }, { default: { a: 'x' } }), 'the default'],
])('a default that its own schema refuses is refused by its place: %s', (_, input, at) => {
  expect(errorOf(() => toolOf(input))).toMatchObject({
    reason: 'invalid_tool',
    message: expect.stringContaining(
      `The tool shop.order cannot be used: its input cannot be used: ${at}`,
    ),
  });
});

test('a default that fits is taken', () => {
  const p = { type: 'object', properties: { c: { default: 1 } } };
  const input = a({ $ref: '#/$defs/p', default: {} }, { $defs: { p } });
  const given = {};
  expect(toolOf(input).parse(given)).toEqual({ a: { c: 1 } });
  expect(given).toEqual({});
});

test.each<[choice: string]>([['anyOf'], ['oneOf']])(
  'scopes and keys name only fields that each of %s has and requires',
  (choice) => {
    const one = (more: string) => ({
      type: 'object',
      properties: { id: { type: 'string' }, at: { type: 'string' }, [more]: { type: 'string' } },
      required: ['id', more],
    });
    const made = (member: string) => () =>
      declaredTool(
        {
          name: 'shop.order',
          input: { type: 'object', [choice]: [one('mail'), one('post')] },
          class: { reversibility: 'irreversible', delivery: 'buffered', sink: 'keyed' },
          writes: [`shop:{${member}}`],
          key: `shop.order/{${member}}`,
          execute: { call: 'take', args: { $from: `/input/${member}` } },
        },
        { take: () => null },
      );
    expect(made('id')().claims({ id: 'x', mail: 'y' })).toMatchObject([
      { scope: { text: 'shop:x' } },
    ]);
    for (const member of ['at', 'mail', 'post'])
      expect(errorOf(made(member))).toMatchObject({ reason: 'invalid_tool' });
  },
);
