import fc from 'fast-check';
import type { z } from 'zod';

// Schemas made of data, so that a test can make one schema with several versions of zod, and with
// or without texts for people.

type Zod = typeof z;

const LEAVES = [
  (zod: Zod) => zod.string(),
  (zod: Zod) => zod.string().min(2),
  (zod: Zod) => zod.string().max(2),
  (zod: Zod) => zod.string().regex(/^a/),
  (zod: Zod) => zod.string().startsWith('a'),
  (zod: Zod) => zod.string().trim().min(1),
  (zod: Zod) => zod.email(),
  (zod: Zod) => zod.iso.date(),
  (zod: Zod) => zod.uuid(),
  (zod: Zod) => zod.number(),
  (zod: Zod) => zod.int(),
  (zod: Zod) => zod.number().int().gte(1),
  (zod: Zod) => zod.number().gt(1),
  (zod: Zod) => zod.number().multipleOf(2),
  (zod: Zod) => zod.boolean(),
  (zod: Zod) => zod.null(),
  (zod: Zod) => zod.literal('a'),
  (zod: Zod) => zod.enum(['a', 'ab']),
  (zod: Zod) => zod.unknown(),
  (zod: Zod) => zod.never(),
] as const;

export type SchemaSpec =
  | { readonly leaf: number }
  | {
      readonly wrap: 'array' | 'some' | 'nullable' | 'optional' | 'record' | 'enum keys';
      readonly of: SchemaSpec;
    }
  | { readonly object: { readonly [key: string]: SchemaSpec } }
  | { readonly union: readonly SchemaSpec[] }
  | { readonly tuple: readonly SchemaSpec[] };

export const schemaSpecs: fc.Arbitrary<SchemaSpec> = fc.letrec<{
  any: SchemaSpec;
  leaf: SchemaSpec;
}>((tie) => ({
  leaf: fc.record({ leaf: fc.nat(LEAVES.length - 1) }),
  any: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    tie('leaf'),
    fc.record({
      wrap: fc.constantFrom('array', 'some', 'nullable', 'optional', 'record', 'enum keys'),
      of: tie('any'),
    }),
    fc.record({ object: fc.dictionary(fc.constantFrom('a', 'b'), tie('any'), { maxKeys: 2 }) }),
    fc.record({ union: fc.array(tie('any'), { minLength: 2, maxLength: 3 }) }),
    fc.record({ tuple: fc.array(tie('any'), { minLength: 1, maxLength: 2 }) }),
  ),
})).any;

/** The schema of a spec. `text`: a description for every part. */
export function schemaOf(zod: Zod, spec: SchemaSpec, text?: string): z.ZodType {
  const made = bare(zod, spec, (part) => schemaOf(zod, part, text));
  return text === undefined ? made : made.describe(text);
}

function bare(zod: Zod, spec: SchemaSpec, inner: (part: SchemaSpec) => z.ZodType): z.ZodType {
  if ('leaf' in spec) return (LEAVES[spec.leaf] as (typeof LEAVES)[number])(zod);
  if ('union' in spec) return zod.union(spec.union.map(inner));
  if ('tuple' in spec) return zod.tuple(spec.tuple.map(inner) as [z.ZodType]);
  if ('wrap' in spec) return wrapped(zod, spec.wrap, inner(spec.of));
  return zod.strictObject(
    Object.fromEntries(Object.entries(spec.object).map(([key, part]) => [key, inner(part)])),
  );
}

function wrapped(zod: Zod, wrap: string, of: z.ZodType): z.ZodType {
  switch (wrap) {
    case 'array':
      return zod.array(of);
    case 'some':
      return zod.array(of).min(1);
    case 'nullable':
      return of.nullable();
    case 'optional':
      return of.optional();
    case 'record':
      return zod.record(zod.string(), of);
    default:
      return zod.record(zod.enum(['a', 'b']), of);
  }
}

const SMALL = [
  undefined,
  null,
  true,
  0,
  1,
  2,
  1.5,
  3,
  '',
  ' ',
  'a',
  'ab',
  'abc',
  'b',
  'a@b.de',
  '2026-01-01',
];

/** Values that tell most of the generated schemas apart. */
export const VALUES: readonly unknown[] = [
  ...SMALL,
  '5f6c0f4e-7b0a-4c8e-9f3e-0d6a3c8f1b2a',
  ...[[], {}, { a: undefined }, { a: null, b: null }],
  ...SMALL.flatMap((value) => [
    [value],
    [value, value],
    { a: value },
    { b: value },
    { a: value, b: value },
  ]),
  ...SMALL.flatMap((value) => [[[value]], { a: [value] }, { a: { a: value } }, [{ a: value }]]),
];
