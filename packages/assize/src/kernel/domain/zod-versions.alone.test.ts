import fc from 'fast-check';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { z } from 'zod';
import * as newest from 'zod';
import { canonicalize } from '#canon';
import { schemaOf, schemaSpecs } from '../../../../../tests/support/models/generated-schema.ts';
import type { DomainSpec } from './domain-spec.ts';

type Zod = typeof z;

const VERSIONS: readonly (readonly [string, () => Promise<{ z: unknown }>])[] = [
  ['4.0', () => import('zod-4-0')],
  ['4.1', () => import('zod-4-1')],
  ['4.2', () => import('zod-4-2')],
  ['4.3', () => import('zod-4-3')],
  ['4.4', () => import('zod-4-4')],
  ['4.5', () => import('zod-4-5')],
];

/** Schemas that versions of zod write as JSON Schema in different ways. */
const SCHEMAS: { readonly [name: string]: (zod: Zod) => z.ZodType } = {
  email: (zod) => zod.email(),
  'email by method': (zod) => zod.string().email(),
  'email of HTML': (zod) => zod.email({ pattern: zod.regexes.html5Email }),
  url: (zod) => zod.url({ protocol: /^https$/, hostname: zod.regexes.domain }),
  uuid: (zod) => zod.uuidv4(),
  emoji: (zod) => zod.emoji(),
  cuid: (zod) => zod.cuid(),
  ulid: (zod) => zod.ulid(),
  address: (zod) => zod.union([zod.ipv4(), zod.ipv6(), zod.cidrv4(), zod.cidrv6()]),
  base64: (zod) => zod.base64(),
  base64url: (zod) => zod.base64url(),
  phone: (zod) => zod.e164(),
  token: (zod) => zod.jwt({ alg: 'HS256' }),
  instant: (zod) => zod.iso.datetime({ offset: true, precision: 3 }),
  'instant by method': (zod) => zod.string().datetime(),
  times: (zod) => zod.tuple([zod.iso.date(), zod.iso.time(), zod.iso.duration()]),
  text: (zod) =>
    zod.string().startsWith('a').endsWith('b').includes('c', { position: 1 }).lowercase(),
  lengths: (zod) =>
    zod
      .string()
      .min(1)
      .max(9)
      .regex(/^[^\n]*$/u),
  numbers: (zod) =>
    zod.tuple([zod.int(), zod.int32(), zod.uint32(), zod.float32(), zod.number().int().positive()]),
  'null and undefined': (zod) =>
    zod.object({ a: zod.string().nullable(), b: zod.string().nullish() }),
  union: (zod) => zod.union([zod.string(), zod.null(), zod.array(zod.int()).nonempty()]),
  'union with a discriminator': (zod) =>
    zod.discriminatedUnion('is', [
      zod.object({ is: zod.literal('a') }),
      zod.object({ is: zod.enum(['b', 'c']) }),
    ]),
  keys: (zod) => zod.keyof(zod.object({ a: zod.string(), b: zod.string() })),
  'listed keys': (zod) => zod.record(zod.enum(['a', 'b']), zod.int()),
  'some listed keys': (zod) => zod.partialRecord(zod.enum(['a', 'b']), zod.int()),
  tuple: (zod) => zod.tuple([zod.string(), zod.int().optional()], zod.boolean()),
  parsed: (zod) =>
    zod.object({ a: zod.string().trim().default('x'), b: zod.coerce.number().catch(1) }),
  piped: (zod) => zod.string().transform(Number).pipe(zod.int()).pipe(zod.number().max(5)),
  'text to boolean': (zod) => zod.stringbool(),
  template: (zod) => zod.templateLiteral(['a-', zod.number(), zod.enum(['x', 'y'])]),
  described: (zod) =>
    zod
      .string()
      .describe('a text')
      .meta({ title: 'Text', examples: ['a'] }),
  partial: (zod) => zod.object({ a: zod.string(), b: zod.int() }).partial().strict(),
};

afterEach(() => {
  vi.doUnmock('zod');
  vi.resetModules();
});

/** The kernel as a program has it whose dependencies resolve to this zod. */
async function kernelWith(zod: { z: unknown }): Promise<{
  readonly define: (spec: DomainSpec<any, any>) => { readonly hash: string };
  readonly textOf: (schema: z.ZodType) => string;
}> {
  vi.resetModules();
  vi.doMock('zod', () => zod);
  const { defineDomain } = await import('./define-domain.ts');
  const { describeSchema } = await import('./describe-schema.ts');
  const define = defineDomain as unknown as (spec: never) => never;
  return {
    define: (spec) => define(spec as never),
    textOf: (schema) => canonicalize(describeSchema(schema), { integers: 'any' }),
  };
}

function crm(zod: Zod): DomainSpec<any, any> {
  const person = zod.object({
    mail: zod.email(),
    since: zod.iso.datetime(),
    boss: zod.string().nullable(),
  });
  return {
    name: 'crm',
    version: '1',
    state: zod.object({ people: zod.record(zod.string(), person) }),
    initial: { people: {} },
    processes: { write: { writes: ['/people/*'] } },
    roles: { desk: { processes: ['write'] } },
    actions: {
      add: {
        process: 'write',
        args: zod.object({ id: zod.string().startsWith('p'), person }),
        apply: () => {},
      },
      tag: {
        process: 'write',
        args: zod.tuple([zod.string(), zod.union([zod.int(), zod.email()])]),
        apply: () => {},
      },
    },
    invariants: [],
  };
}

describe.each(VERSIONS)('with zod %s', (_version, load) => {
  test('each schema has the description that the newest zod gives it', async () => {
    const now = await kernelWith(newest);
    const expected = Object.entries(SCHEMAS).map(([name, make]) => [
      name,
      now.textOf(make(newest.z)),
    ]);
    const older = await load();
    const then = await kernelWith(older);
    const found = Object.entries(SCHEMAS).map(([name, make]) => [
      name,
      then.textOf(make(older.z as Zod)),
    ]);
    expect(found).toEqual(expected);
  });

  test('generated schemas have the description that the newest zod gives them', async () => {
    const older = await load();
    const [now, then] = [await kernelWith(newest), await kernelWith(older)];
    fc.assert(
      fc.property(schemaSpecs, (spec) => {
        expect(then.textOf(schemaOf(older.z as Zod, spec))).toBe(
          now.textOf(schemaOf(newest.z, spec)),
        );
      }),
    );
  });

  test('a domain has one hash, also if the package brings another zod', async () => {
    const older = await load();
    const now = await kernelWith(newest);
    const { hash } = now.define(crm(newest.z));
    expect(now.define(crm(older.z as Zod)).hash).toBe(hash);
    const then = await kernelWith(older);
    expect(then.define(crm(older.z as Zod)).hash).toBe(hash);
    expect(then.define(crm(newest.z)).hash).toBe(hash);
  });
});
