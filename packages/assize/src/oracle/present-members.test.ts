import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { oracleKey } from './index.ts';

const keyOf = (request: unknown, theta?: object): string =>
  oracleKey({
    scope: { kind: 'memory', space: 'm' },
    request: request as never,
    ...(theta && { theta }),
  });

/** Adds an undefined and a hidden member to each object. */
function padded(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(padded);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).map(([name, member]) => [name, padded(member)]);
  const made = Object.fromEntries([...members, ['absent', undefined]]);
  return Object.defineProperty(made, '~standard', { value: () => 1, enumerable: false });
}

test('absent members change no question, at any depth', () => {
  const small = (_: string, value: unknown): unknown =>
    typeof value === 'number' ? Math.round(value % 1_000) : value;
  const json = fc
    .jsonValue({ maxDepth: 4 })
    .map((value) => JSON.parse(JSON.stringify(value), small));
  fc.assert(
    fc.property(json, (value) => {
      expect(keyOf(padded(value))).toBe(keyOf(value));
      expect(keyOf(1, { prompt: padded(value) })).toBe(keyOf(1, { prompt: value }));
    }),
  );
});

test('a schema of z.toJSONSchema is a request as it is', () => {
  const schema = z.object({
    id: z.string().optional(),
    of: z.lazy(() => z.json()),
    n: z.int().default(3),
  });
  for (const io of ['input', 'output'] as const) {
    const made = z.toJSONSchema(schema, { io });
    expect(Object.getOwnPropertyNames(made)).toContain('~standard');
    expect(keyOf({ schema: made })).toBe(keyOf(JSON.parse(JSON.stringify({ schema: made }))));
  }
});

const circular: Record<string, unknown> = { absent: undefined };
circular['self'] = circular;

test.each<[string, unknown]>([
  ['an undefined item of a list', [undefined]],
  ['a hole in a list', new Array(2)],
  ['a function', { call: () => 1 }],
  ['a date', { at: new Date(0) }],
  [
    'an accessor',
    Object.defineProperty({ absent: undefined }, 'a', { get: () => 1, enumerable: true }),
  ],
  ['a symbol', { [Symbol('s')]: 1, absent: undefined }],
  ['a circle', circular],
  ['a proxy', { a: new Proxy({}, {}), absent: undefined }],
  ['an undefined request', undefined],
])('%s stays refused', (_, request) => {
  expect(() => keyOf(request)).toThrow(
    expect.objectContaining({
      code: 'bad_argument',
      message: expect.stringContaining('The question is not valid'),
    }),
  );
});
