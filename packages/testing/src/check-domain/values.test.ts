import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { cases } from '../../../../tests/support/cases.ts';
import { fixedNames, poolOf, valuesOf } from './values.ts';

const tree: z.ZodType = z.lazy(() =>
  z.object({
    name: z.string(),
    left: tree.optional(),
    more: z.record(z.string(), tree),
    list: z.array(tree).max(2),
  }),
);

describe('the values of a schema fit it', () => {
  test.each<[string, z.ZodType]>([
    [
      'plain',
      z.object({ a: z.string(), b: z.number(), c: z.boolean(), d: z.null(), e: z.literal(7) }),
    ],
    [
      'bounded',
      z.object({
        a: z.int().min(3).max(5),
        b: z.number().gt(0).lt(3),
        c: z.string().min(2).max(4),
      }),
    ],
    ['steps', z.number().min(10).max(50).multipleOf(5)],
    [
      'patterns',
      z.object({ a: z.string().regex(/^[a-z]{2,4}$/), b: z.email(), c: z.iso.date(), d: z.uuid() }),
    ],
    ['unions', z.union([z.enum(['a', 'b']), z.int().nullable(), z.object({ t: z.literal(1) })])],
    [
      'lists',
      z.object({
        a: z.array(z.int()).min(2).max(3),
        b: z.tuple([z.string(), z.int()]).rest(z.boolean()),
      }),
    ],
    [
      'records',
      z.object({
        a: z.record(z.string().regex(/^x/), z.int()),
        b: z.record(z.enum(['p', 'q']), z.int()),
      }),
    ],
    [
      'parts that may be absent',
      z.object({ a: z.string().optional(), b: z.partialRecord(z.enum(['p']), z.int()) }),
    ],
    ['json', z.json()],
    ['what contains itself', tree],
  ])('%s', (_, schema) => {
    const takes = (value: unknown): boolean => schema.safeParse(value).success;
    fc.assert(fc.property(valuesOf(schema, 'input'), takes), { numRuns: cases(100) });
  });
});

test('a field with a default is sometimes omitted', () => {
  const drawn = fc.sample(valuesOf(z.object({ a: z.string().default('x') }), 'input'), {
    seed: 1,
    numRuns: 50,
  });
  expect(new Set(drawn.map((value) => Object.keys(value as object).length))).toEqual(
    new Set([0, 1]),
  );
});

test('values in the state are drawn again, but not the names from its schema', () => {
  const schema = z.object({ users: z.record(z.string(), z.object({ limit: z.int() })) });
  const pool = poolOf({ users: { grace: { limit: 1_234 } } }, fixedNames(schema));
  expect(pool).toEqual({ texts: ['grace'], numbers: [1_234] });
  const texts = fc.sample(valuesOf(z.string(), 'input', pool), { seed: 1, numRuns: 100 });
  expect(texts).toContain('grace');
  const numbers = fc.sample(valuesOf(z.int(), 'input', pool), { seed: 1, numRuns: 200 });
  expect(numbers).toEqual(expect.arrayContaining([1_233, 1_234, 1_235]));
});
