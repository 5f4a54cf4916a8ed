import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { Change } from './change.ts';
import { changesFault, stateFault, strictSchema } from './schema.ts';

const schema = strictSchema(
  z.object({
    n: z.number(),
    maybe: z.string().optional(),
    any: z.any().nullable(),
    people: z.record(
      z.string().regex(/^[a-z]+$/),
      z.object({ age: z.number().int().min(0), tags: z.array(z.string()) }),
    ),
    both: z.record(z.enum(['left', 'right']), z.number()),
    some: z.partialRecord(z.enum(['left', 'right']), z.number()),
    numbered: z.record(z.number(), z.string()),
    pair: z.tuple([z.string(), z.number()]),
    few: z.array(z.number()).max(2),
    range: z
      .object({ from: z.number(), to: z.number() })
      .refine(({ from, to }) => from <= to, 'from must be before to'),
    shape: z.discriminatedUnion('kind', [
      z.object({ kind: z.literal('dot') }),
      z.object({ kind: z.literal('line'), length: z.number() }),
    ]),
  }),
  'state',
);

const state = {
  n: 1,
  any: null,
  people: { ada: { age: 36, tags: ['x'] } },
  both: { left: 1, right: 2 },
  some: { left: 1 },
  numbered: { '1': 'one' },
  pair: ['a', 1],
  few: [1, 2],
  range: { from: 1, to: 2 },
  shape: { kind: 'line', length: 1 },
};

/** The fault after the change. The state is already changed when it is checked. */
function fault(path: string, ...value: unknown[]): string | undefined {
  const live = structuredClone(state);
  const keys = path.split('/').slice(1);
  const last = keys.at(-1) as string;
  const parent = keys.slice(0, -1).reduce<any>((here, key) => here[key], live);
  const existed = Object.hasOwn(parent, last);
  if (value.length === 0 && Array.isArray(parent)) parent.pop();
  else if (value.length === 0) delete parent[last];
  else parent[last] = value[0];
  const op = value.length === 0 ? 'remove' : existed ? 'replace' : 'add';
  const change = { op, keys, parent: keys.slice(0, -1), value: value[0], appends: false } as Change;
  return changesFault(schema, live, [change]);
}

test('the state of this test fits', () => {
  expect(stateFault(schema, state)).toBeUndefined();
});

describe('a change that fits', () => {
  test.each<[string, ...unknown[]]>([
    ['/n', 2],
    ['/maybe', 'there'],
    ['/any', { anything: [1] }],
    ['/people/bob', { age: 1, tags: [] }],
    ['/people/ada/age', 37],
    ['/people/ada/tags/1', 'y'],
    ['/people/ada'],
    ['/people/ada/tags/0'],
    ['/both/left', 9],
    ['/some/left'],
    ['/some/right', 1],
    ['/numbered/2', 'two'],
    ['/numbered/1'],
    ['/pair/1', 5],
    ['/few/1'],
    ['/range/to', 9],
    ['/shape', { kind: 'dot' }],
    ['/shape/length', 5],
  ])('%s %j', (path, ...value) => {
    expect(fault(path, ...value)).toBeUndefined();
  });
});

describe('a change that does not fit is named', () => {
  test.each<[string, unknown[], string]>([
    ['/n', ['one'], '/n: '],
    ['/n', [], '/n: cannot be removed'],
    ['/any', [], '/any: cannot be removed'],
    ['/other', [1], '/other: the schema of the state has no such path'],
    ['/constructor', [1], '/constructor: the schema of the state has no such path'],
    ['/people/Bob', [{ age: 1, tags: [] }], '/people/Bob: '],
    ['/people/ada/age', [-1], '/people/ada/age: '],
    ['/people/ada/age', [], '/people/ada/age: cannot be removed'],
    ['/people/ada/admin', [true], '/people/ada/admin: '],
    ['/people/eve', [{ age: 1, tags: [], admin: true }], '/people/eve: Unrecognized key: "admin"'],
    ['/people/eve', [{ age: 1 }], '/people/eve/tags: '],
    ['/people/ada/tags/1', [5], '/people/ada/tags/1: '],
    ['/both/left', [], '/both/left: cannot be removed'],
    ['/both/up', [1], '/both/up: '],
    ['/some/up', [1], '/some/up: '],
    ['/numbered/two', ['x'], '/numbered/two: '],
    ['/pair/1', ['x'], '/pair/1: '],
    ['/pair/1', [], '/pair'],
    ['/pair/2', [1], '/pair'],
    ['/few/2', [3], '/few'],
    ['/range/to', [0], '/range: from must be before to'],
    ['/shape/kind', ['dot'], '/shape: '],
    ['/shape/length', ['long'], '/shape/length: '],
    ['/shape/length', [], '/shape/length: '],
  ])('%s %j', (path, value, words) => {
    expect(fault(path, ...value)).toContain(words);
  });
});

test('a check that stumbles is a fault, not a throw', () => {
  const strict = strictSchema(
    z.object({
      text: z.string().min(1),
      own: z.any().refine(() => {
        throw new Error('no');
      }),
    }),
    'state',
  );
  const change: Change = {
    op: 'replace',
    keys: ['text'],
    parent: [],
    value: { length: { toString: 1 } },
    appends: false,
  };
  expect(changesFault(strict, { text: { length: { toString: 1 } } }, [change])).toContain(
    '/text: the check failed',
  );
  expect(stateFault(strict, { text: 'x', own: 1 })).toContain('the check failed: no');
});

test('objects are strict at every depth, also those that say otherwise', () => {
  const loose = z.looseObject({
    inner: z.array(z.union([z.looseObject({ a: z.number() }), z.null()])).optional(),
  });
  const strict = strictSchema(loose, 'state');
  expect(strict.safeParse({ inner: [{ a: 1 }, null] }).success).toBe(true);
  expect(strict.safeParse({ more: 1 }).success).toBe(false);
  expect(strict.safeParse({ inner: [{ a: 1, b: 1 }] }).success).toBe(false);
  expect(loose.safeParse({ more: 1 }).success).toBe(true);
});

test('arguments may be parsed into something else; a state may not', () => {
  const args = z.object({
    n: z.coerce.number(),
    unit: z.string().default('usd'),
    when: z.string().transform((text) => text.trim()),
  });
  expect(strictSchema(args, 'args').parse({ n: '1', when: ' x ' })).toEqual({
    n: 1,
    unit: 'usd',
    when: 'x',
  });
  expect(strictSchema(args, 'args').safeParse({ n: 1, when: 'x', more: 1 }).success).toBe(false);
  expect(() => strictSchema(z.object({ n: z.coerce.number() }), 'state')).toThrow(
    /changes values at \/n/,
  );
  expect(() => strictSchema(z.object({ n: z.string().trim() }), 'state')).toThrow(
    /changes values at \/n/,
  );
  expect(() => strictSchema(args.omit({ n: true }), 'state')).toThrow(
    /^The schema of the state has a default at \/unit\. Use .*null; each also optional or nullable\)\.$/,
  );
});
