import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { canonicalize } from '#canon';
import {
  schemaOf,
  schemaSpecs,
  VALUES,
} from '../../../../../tests/support/models/generated-schema.ts';
import { describeSchema } from './describe-schema.ts';
import { strictSchema } from './schema.ts';
import { sensitive } from './sensitive.ts';

const textOf = (schema: z.ZodType): string =>
  canonicalize(describeSchema(schema), { integers: 'any' });

describe('a description stays the same with', () => {
  test.each<[string, z.ZodType, z.ZodType]>([
    ['a description', z.string(), z.string().describe('the address of a person')],
    [
      'a title and an id',
      z.array(z.int()),
      z.array(z.int().meta({ title: 'Amounts', id: 'amounts' })),
    ],
    [
      'a description as a check',
      z.string(),
      z.string().check(z.describe('a name'), z.meta({ title: 'Name' })),
    ],
    ['an error message', z.string().min(2), z.string().min(2, 'too short')],
    ['an error message of a type', z.email(), z.email({ error: 'no address' })],
    [
      'an error message of a refinement',
      z.string().refine(() => true),
      z.string().refine(() => true, 'wrong'),
    ],
    ['a brand', z.string(), z.string().brand<'Name'>()],
    [
      'the order of members',
      z.object({ a: z.string(), b: z.int() }),
      z.object({ b: z.int(), a: z.string() }),
    ],
    ['the order of an enum', z.enum(['a', 'b']), z.enum(['b', 'a'])],
    ['an enum written as literals', z.enum(['a', 'b']), z.literal(['a', 'b'])],
    ['the older form of a format', z.email(), z.string().email()],
    ['the older form of an integer', z.int().max(5), z.number().int().max(5)],
    ['another name of a bound', z.number().positive(), z.number().gt(0)],
    ['a discriminator (it only finds an option sooner)', ...discriminated()],
    ['a lazy part', z.array(z.string()), z.array(z.lazy(() => z.string()))],
  ])('%s', (_what, one, other) => {
    expect(textOf(one)).toBe(textOf(other));
  });
});

function discriminated(): [z.ZodType, z.ZodType] {
  const options = [
    z.object({ is: z.literal('a') }),
    z.object({ is: z.literal('b'), n: z.int() }),
  ] as const;
  return [z.union(options), z.discriminatedUnion('is', options)];
}

describe('a description changes with', () => {
  test.each<[string, z.ZodType, z.ZodType]>([
    ['a type', z.string(), z.number()],
    ['a bound', z.string().min(2), z.string().min(3)],
    ['a bound that is no longer part of the range', z.number().gte(0), z.number().gt(0)],
    ['a length of a list', z.array(z.int()).length(2), z.array(z.int()).max(2)],
    ['the width of an integer', z.int32(), z.uint32()],
    ['a multiple', z.number().multipleOf(5), z.number().multipleOf(10)],
    ['a format', z.email(), z.url()],
    ['an option of a format', z.iso.datetime(), z.iso.datetime({ offset: true })],
    ['a precision', z.iso.time({ precision: 0 }), z.iso.time()],
    ['the version of a UUID', z.uuidv4(), z.uuidv7()],
    ['the hosts of a URL', z.url({ hostname: /^a$/ }), z.url({ hostname: /^b$/ })],
    ['a pattern of its own for a format', z.email(), z.email({ pattern: /@example\.com$/ })],
    ['a pattern', z.string().regex(/^a/), z.string().regex(/^b/)],
    ['a flag of a pattern', z.string().regex(/^a/), z.string().regex(/^a/i)],
    [
      'a pattern of a format with a name',
      z.stringFormat('iban', /^A/),
      z.stringFormat('iban', /^B/),
    ],
    ['a prefix', z.string().startsWith('a'), z.string().startsWith('b')],
    ['a suffix', z.string().endsWith('a'), z.string().endsWith('b')],
    ['a place of a part', z.string().includes('a'), z.string().includes('a', { position: 2 })],
    ['letter case', z.string().lowercase(), z.string().uppercase()],
    [
      'a change of the text before a check',
      z.string().trim().max(3),
      z.string().toLowerCase().max(3),
    ],
    ['the order of a change and a check', z.string().trim().min(1), z.string().min(1).trim()],
    ['coercion', z.number(), z.coerce.number()],
    ['a key', z.object({ a: z.string() }), z.object({ b: z.string() })],
    ['an optional member', z.object({ a: z.string() }), z.object({ a: z.string().optional() })],
    [
      'a member that is optional and never undefined',
      z.string().optional(),
      z.exactOptional(z.string()),
    ],
    ['null', z.string(), z.string().nullable()],
    ['a default', z.string().default('a'), z.string().default('b')],
    ['the value after a fault', z.string().catch('a'), z.string().catch('b')],
    ['a value of an enum', z.enum(['a', 'b']), z.enum(['a', 'c'])],
    ['the type of a literal', z.literal('1'), z.literal(1)],
    ['an option of a union', z.union([z.string(), z.int()]), z.union([z.string(), z.null()])],
    ['the order of a union, whose first fit counts', ...reordered()],
    [
      'a union with one option that fits',
      z.union([z.string(), z.int()]),
      z.xor([z.string(), z.int()]),
    ],
    ['the length of a tuple', z.tuple([z.int()]), z.tuple([z.int(), z.int()])],
    ['the rest of a tuple', z.tuple([z.int()]), z.tuple([z.int()], z.int())],
    ['the keys of a record', z.record(z.string(), z.int()), z.record(z.string().max(3), z.int())],
    [
      'keys that need not all be there',
      z.record(z.enum(['a']), z.int()),
      z.partialRecord(z.enum(['a']), z.int()),
    ],
    ['the values of a record', z.record(z.string(), z.int()), z.record(z.string(), z.string())],
    ['a refinement', z.string(), z.string().refine(() => true)],
    ['a transform', z.string(), z.string().transform((text) => text)],
    ['a part of a template', z.templateLiteral(['a', z.int()]), z.templateLiteral(['b', z.int()])],
    [
      'the mark of sensitive values',
      z.union([z.string(), z.int()]),
      sensitive(z.union([z.string(), z.int()])),
    ],
    ['the check of a property', ...withProperty()],
  ])('%s', (_what, one, other) => {
    expect(textOf(one)).not.toBe(textOf(other));
  });
});

function reordered(): [z.ZodType, z.ZodType] {
  const [text, number] = [z.string().default('a'), z.int().default(1)];
  return [z.union([text, number]), z.union([number, text])];
}

function withProperty(): [z.ZodType, z.ZodType] {
  const list = (length: number): z.ZodType =>
    z.array(z.int()).check(z.property('length', z.literal(length)));
  return [list(1), list(2)];
}

test('a default that is computed each time is a mark', () => {
  let count = 0;
  const counted = z.int().default(() => count++);
  expect(textOf(counted)).toBe(textOf(counted));
  expect(textOf(counted)).not.toBe(textOf(z.int().default(0)));
});

test('objects that the kernel makes strict have one description', () => {
  const texts = [
    z.object({ a: z.int() }),
    z.strictObject({ a: z.int() }),
    z.looseObject({ a: z.int() }),
  ].map((schema) => textOf(strictSchema(schema, 'args')));
  expect(new Set(texts).size).toBe(1);
});

describe('of generated schemas', () => {
  test('one description accepts one set of values', () => {
    fc.assert(
      fc.property(schemaSpecs, schemaSpecs, (one, other) => {
        const [left, right] = [schemaOf(z, one), schemaOf(z, other)];
        const differs = VALUES.some(
          (value) => left.safeParse(value).success !== right.safeParse(value).success,
        );
        if (differs) expect(textOf(left)).not.toBe(textOf(right));
      }),
    );
  });

  test('texts for people change nothing', () => {
    fc.assert(
      fc.property(schemaSpecs, (spec) => {
        expect(textOf(schemaOf(z, spec, 'a text'))).toBe(textOf(schemaOf(z, spec)));
      }),
    );
  });
});
