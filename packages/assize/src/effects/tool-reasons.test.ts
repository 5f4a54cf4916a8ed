import { expect, test } from 'vitest';
import { z } from 'zod';
import { declareTool } from '#effects';

// A tool's invalid input is described in plain words with its location, never by a library's own
// message.

const RAW = /Invalid|expected|received|Unrecognized|Too (?:big|small)|✖/;

function said(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('it was taken');
}

const tool = (input: z.ZodType) =>
  declareTool({ name: 'mail.send', input, class: 'read', execute: () => null });

const of = (schema: z.ZodType) => z.strictObject({ to: z.array(schema) });

test.each<[string, z.ZodType, unknown, string]>([
  ['missing', z.strictObject({ to: z.string() }), {}, '/to: it must be a string, but is missing'],
  ['another type', of(z.string()), { to: ['a', 7] }, '/to/1: it must be a string, but is a number'],
  ['nothing at all', z.strictObject({}), undefined, 'it must be an object, but is missing'],
  ['null', of(z.boolean()), { to: [null] }, '/to/0: it must be true or false, but is null'],
  [
    'a list',
    of(z.record(z.string(), z.string())),
    { to: [[]] },
    '/to/0: it must be an object, but is a list',
  ],
  ['no whole number', of(z.int()), { to: [1.5] }, '/to/0: it must be a whole number, but is 1.5'],
  [
    'no number',
    of(z.number()),
    { to: [Number.NaN] },
    '/to/0: it must be a number, but is not a number',
  ],
  [
    'an invalid date',
    of(z.date()),
    { to: ['x'] },
    '/to/0: it must be of the type date, but is a string',
  ],
  [
    'members that are not known',
    z.strictObject({ to: z.string() }),
    { to: 'a', b: 1, c: 2 },
    'there is no field "b" and no field "c"',
  ],
  ['none of several', of(z.enum(['a', 'b'])), { to: ['c'] }, '/to/0: it must be "a" or "b"'],
  ['not that one', of(z.literal(1n)), { to: ['c'] }, '/to/0: it must be 1'],
  ['too short', of(z.string().min(3)), { to: ['c'] }, '/to/0: it must have at least 3 characters'],
  [
    'too long',
    z.strictObject({ to: z.array(z.string()).max(1) }),
    { to: ['c', 'd'] },
    '/to: it must have at most 1 items',
  ],
  [
    'of another length',
    of(z.string().length(3)),
    { to: ['c'] },
    '/to/0: it must have exactly 3 characters',
  ],
  ['too little', of(z.number().positive()), { to: [0] }, '/to/0: it must be more than 0'],
  ['too much', of(z.number().lt(3)), { to: [3] }, '/to/0: it must be less than 3'],
  ['no multiple', of(z.number().multipleOf(5)), { to: [3] }, '/to/0: it must be a multiple of 5'],
  [
    'no address',
    of(z.email()),
    { to: ['c'] },
    '/to/0: it must be an e-mail address, such as ada@example.com',
  ],
  [
    'none of two types',
    of(z.union([z.string(), z.number()])),
    { to: [true] },
    '/to/0: it must be a string or a number, but is true or false',
  ],
  [
    'nothing where one of two types belongs',
    z.strictObject({ to: z.union([z.string(), z.number()]) }),
    {},
    '/to: it must be a string or a number, but is missing',
  ],
  [
    'no form',
    of(z.union([z.string().min(3), z.strictObject({ a: z.string() })])),
    { to: ['ab'] },
    '/to/0: it must have at least 3 characters',
  ],
  [
    'none of the forms',
    of(z.union([z.strictObject({ b: z.string() }), z.strictObject({ a: z.string() })])),
    { to: [{ c: 1 }] },
    '/to/0: it matches none of the allowed forms',
  ],
  [
    'nothing where a form belongs',
    z.strictObject({ to: z.union([z.literal('all'), z.array(z.string()).min(1)]) }),
    {},
    '/to: it is missing',
  ],
  [
    'refined',
    of(z.string().refine(() => false)),
    { to: ['c'] },
    '/to/0: it fails a custom check of the schema',
  ],
  [
    'refined in words',
    of(z.string().refine(() => false, 'write to somebody')),
    { to: ['c'] },
    '/to/0: write to somebody',
  ],
  ['with words of its own', of(z.string('say who')), { to: [1] }, '/to/0: say who'],
  [
    'more than one',
    of(z.string()),
    { to: [1, 2, 3] },
    '/to/0: it must be a string, but is a number; /to/1: it must be a string, but is a number; /to/2: it must be a string, but is a number',
  ],
  [
    'more than can be said',
    of(z.string()),
    { to: [1, 2, 3, 4, 5, 6, 7] },
    `${[0, 1, 2, 3, 4].map((n) => `/to/${n}: it must be a string, but is a number`).join('; ')} (and 2 more)`,
  ],
  [
    'a misspelled member, before the one that is missing for it',
    z.strictObject({ to: z.string() }),
    { too: 'a' },
    'there is no field "too"; /to: it must be a string, but is missing',
  ],
  [
    'a name that is strange',
    z.record(z.string(), z.string()),
    { 'a/b~': 1 },
    '/a~1b~0: it must be a string, but is a number',
  ],
])('%s', (_, schema, given, words) => {
  const message = said(() => tool(schema).parse(given));
  expect(message).toBe(`The input of mail.send is not valid: ${words}.`);
  expect(message).not.toMatch(RAW);
});

test('the error has each misfit of an input as data', () => {
  const parse = () =>
    tool(z.strictObject({ to: z.string(), cc: z.number() })).parse({ too: 'a', cc: 'b' });
  expect(parse).toThrowError(
    expect.objectContaining({
      code: 'bad_input',
      evidence: expect.objectContaining({
        findings: [
          { pointer: '', message: 'there is no field "too"' },
          { pointer: '/to', message: 'it must be a string, but is missing' },
          { pointer: '/cc', message: 'it must be a number, but is a string' },
        ],
      }),
    }),
  );
});

test.each([
  ['no class', undefined, 'class must be an object'],
  ['a text', 'write', 'class must be an object'],
  [
    'no sink',
    { reversibility: 'reversible', delivery: 'buffered' },
    'class.sink must be keyed, queryable or blind',
  ],
  [
    'more',
    { reversibility: 'reversible', delivery: 'buffered', sink: 'blind', size: 1 },
    'class.size must be left out, because it is not a known field (delivery, reversibility, sink)',
  ],
])('a declaration with %s', (_, given, words) => {
  const message = said(() =>
    declareTool({
      name: 'x',
      input: z.strictObject({}),
      class: given as never,
      writes: ['x:1'],
      execute: () => null,
    }),
  );
  expect(message).toContain(`(${words})`);
  expect(message).not.toMatch(RAW);
});
