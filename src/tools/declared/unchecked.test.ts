import { expect, test } from 'vitest';
import { z } from 'zod';
import type { Json } from '#base';
import { errorOf } from '../../../tests/support/process/errors.ts';
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

/** A member of which that is said. */
const a = (said: Json, more: Input = {}): Input => ({ properties: { a: said }, ...more });

const NUMBER = { type: 'number' };
const A_B = { a: 1, b: 1 };
const ONE_A = { a: 1 };
/** Next to the fields, the requirement that at least one of them exists. */
const EITHER = { properties: { a: NUMBER, b: NUMBER }, anyOf: [{ required: ['a'] }, { required: ['b'] }] };

// Each has an input that its schema refuses, and that would be taken.
test.each<[what: string, input: Input, why: string]>([
  ['a limit without a type', a({ maximum: 5 }), 'at /properties/a, maximum'],
  ['a limit in a part', a({ type: 'string', allOf: [{ minLength: 3 }] }), 'at /properties/a/allOf/0, minLength'],
  ['a member that is only required', { required: ['a'] }, 'required names "a"'],
  ['a member that says itself that it is required', a({ type: 'string', required: true }), 'required must be a list'],
  ['a limit that is a text', a({ type: 'integer', minimum: '3' }), 'minimum must be a number'],
  ['a limit beside a reference', a({ $ref: '#/$defs/p', maxLength: 1 }, { $defs: { p: { type: 'string' } } }), '$ref'],
  ['a limit that is referred to', a({ $ref: '#/$defs/p' }, { $defs: { p: { maxLength: 1 } } }), 'at /$defs/p'],
  ['a limit beside its values', a({ enum: ['abc'], maxLength: 1 }), 'maxLength is not checked next to enum'],
  ['a value beside its values', a({ enum: ['b'], const: 'c' }), 'const is not checked next to enum'],
  ['a number of anything', a({ type: 'array', maxItems: 1 }), 'maxItems is not checked without items'],
  ['two choices', a({ anyOf: [{ type: 'string' }], oneOf: [{ type: 'number' }] }), 'anyOf is not checked next to'],
  ['others beside a choice', { additionalProperties: false, anyOf: [{ type: 'object' }] }, 'additionalProperties'],
  [
    'others beside patterns',
    { patternProperties: { '^a': {} }, additionalProperties: { type: 'number' } },
    'additionalProperties',
  ],
  ['what an earlier version had', { dependencies: { a: ['b'] } }, 'dependencies'],
  [
    'others in a choice beside members',
    { ...a({}), anyOf: [{ type: 'object', properties: { b: {} }, additionalProperties: false }] },
    'at /anyOf/0, additionalProperties',
  ],
  [
    'others in one of all',
    { allOf: [{ type: 'object', additionalProperties: false }, { type: 'object' }] },
    'at /allOf/0, additionalProperties',
  ],
  [
    'others in one of all by its name',
    {
      properties: { a: { allOf: [{ $ref: '#/$defs/p' }, {}] } },
      $defs: { p: { type: 'object', additionalProperties: false } },
    },
    'at /properties/a/allOf/0/$ref, additionalProperties',
  ],
  ['names beside a choice', { propertyNames: { maxLength: 1 }, anyOf: [{ type: 'object' }] }, 'propertyNames'],
  ['places that are no list', a({ type: 'array', prefixItems: { type: 'number' } }), 'prefixItems must be a list'],
  ['a form that nobody knows', a({ type: 'string', format: 'regex' }), 'the format regex is not checked'],
  ['letters of all scripts', a({ type: 'string', pattern: '^[^\\p{L}]$' }), 'a pattern has \\p'],
  [
    'a part of what is referred to',
    a({ $ref: '#/$defs/p/properties/b' }, { $defs: { p: { type: 'object', properties: { b: { type: 'string' } } } } }),
    'at /properties/a, $ref',
  ],
  ['the same in a list', a({ type: 'array', items: { minimum: 1 } }), 'at /properties/a/items, minimum'],
  ['the same in a place of a list', a({ type: 'array', prefixItems: [{ minimum: 1 }] }), 'prefixItems/0'],
])('a schema is refused that would not check %s', (_, input, why) => {
  expect(errorOf(() => toolOf(input))).toMatchObject({
    code: 'invalid_tool',
    message: expect.stringMatching(/^The tool shop\.order cannot be used: its input cannot be checked: /),
  });
  expect(errorOf(() => toolOf(input))).toMatchObject({ message: expect.stringContaining(why) });
});

test.each<[what: string, input: Input, taken: Json, refused: Json]>([
  ['of a limit', a({ type: ['integer', 'null'], maximum: 5 }), { a: null }, { a: 6 }],
  ['of a choice', a({ anyOf: [{ type: 'string', maxLength: 1 }, { type: 'null' }] }), { a: null }, { a: 'ab' }],
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
  ['of a reference', a({ $ref: '#/$defs/p' }, { $defs: { p: { type: 'string', maxLength: 1 } } }), {}, { a: 'ab' }],
  ['of names', { propertyNames: { maxLength: 1 } }, { b: 1 }, { ab: 1 }],
  ['of names that are said', { propertyNames: { enum: ['a', 'b'] } }, { b: 1 }, { c: 1 }],
  ['of members by such names', { propertyNames: { enum: ['a'] }, additionalProperties: NUMBER }, { a: 1 }, { a: '1' }],
  [
    'of such names that have to be there',
    z.toJSONSchema(z.record(z.enum(['a', 'b']), z.number())) as Input,
    A_B,
    ONE_A,
  ],
  ['of what one of two wants', { ...EITHER, additionalProperties: false }, { b: 1 }, {}],
  ['of others beside what one of two wants', { ...EITHER, additionalProperties: false }, { a: 1 }, { a: 1, c: 1 }],
  ['of members beside what one of two wants', EITHER, { a: 1 }, { a: 1, b: '1' }],
  ['of what exactly one of two wants', { properties: EITHER.properties, oneOf: EITHER.anyOf }, { a: 1 }, A_B],
  ['of that in a member', a({ type: 'object', ...EITHER }), { a: { b: 1 } }, { a: {} }],
  ['of members', a({}, { required: ['a'], additionalProperties: false }), { a: 1 }, { a: 1, b: 1 }],
  ['of a number of anything', a({ type: 'array', items: true, maxItems: 1 }), { a: [1] }, { a: [1, 2] }],
  ['of values, which may have any members', a({ enum: ['b'], default: 'b', maximum_: 1 }), {}, { a: 'c' }],
])('a schema is taken that checks all %s', (_, input, taken, refused) => {
  const tool = toolOf(input);
  expect(() => tool.parse(taken)).not.toThrow();
  expect(errorOf(() => tool.parse(refused))).toMatchObject({ code: 'bad_input' });
});

test.each<[what: string, input: Input, at: string]>([
  ['of a member', a({ type: 'number', default: 'x' }), 'at /properties/a, the default'],
  ['over a limit', a({ type: 'integer', maximum: 5, default: 6 }), 'at /properties/a, the default'],
  ['in a list', a({ type: 'array', items: { type: 'string', default: 1 } }), 'at /properties/a/items, the default'],
  [
    'of a reference',
    a({ $ref: '#/$defs/p', default: 1 }, { $defs: { p: { type: 'string' } } }),
    'at /properties/a, the',
  ],
  ['of a reference to all', a({ $ref: '#', default: 1 }), 'at /properties/a, a default is not checked'],
  [
    'around a reference to all',
    a({ type: 'array', items: { $ref: '#' }, default: [1] }),
    'at /properties/a, a default is',
  ],
  ['of all', a({ type: 'number' }, { default: { a: 'x' } }), 'the default'],
])('a default that its own schema refuses is refused by its place: %s', (_, input, at) => {
  expect(errorOf(() => toolOf(input))).toMatchObject({
    code: 'invalid_tool',
    message: expect.stringContaining(`The tool shop.order cannot be used: its input cannot be used: ${at}`),
  });
});

test('a default that fits is taken', () => {
  const input = a({ $ref: '#/$defs/p', default: 'b' }, { $defs: { p: { type: 'string', default: 'c' } } });
  expect(toolOf(input).parse({})).toEqual({ a: 'b' });
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
    expect(made('id')().claims({ id: 'x', mail: 'y' })).toMatchObject([{ scope: { text: 'shop:x' } }]);
    for (const member of ['at', 'mail', 'post']) expect(errorOf(made(member))).toMatchObject({ code: 'invalid_tool' });
  },
);
