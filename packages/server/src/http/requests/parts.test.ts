import type { Operation } from '@assize/command/operation';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { checkedParts } from './parts.ts';

const one = {
  params: z.strictObject({ id: z.string().min(2) }),
  query: z.strictObject({ limit: z.string().regex(/^\d+$/).transform(Number).optional() }),
  body: z.strictObject({
    n: z.number().int(),
    inner: z.strictObject({ list: z.array(z.string()) }).optional(),
  }),
} as unknown as Operation;

function findingsOf(
  given: { path?: object; query?: string; body?: unknown },
  declared: Operation = one,
): string[] {
  try {
    const { path = { id: 'ab' }, query = '', body = { n: 1 } } = given;
    checkedParts(declared, { path: path as never, query: new URLSearchParams(query), body });
    return [];
  } catch (error) {
    expect(error).toMatchObject({ name: 'ServerError', code: 'invalid_request' });
    return (error as { evidence: { findings: { pointer: string }[] } }).evidence.findings.map(
      ({ pointer }) => pointer,
    );
  }
}

test('the parts come out in the form of the schemas', () => {
  const query = new URLSearchParams('limit=7');
  expect(checkedParts(one, { path: { id: 'ab' }, query, body: { n: 1 } })).toEqual({
    path: { id: 'ab' },
    query: { limit: 7 },
    body: { n: 1 },
  });
});

test('the misfits of all parts are reported together, each at its place', () => {
  expect(
    findingsOf({ path: { id: 'a' }, query: 'limit=x', body: { n: 'x', inner: { list: [1] } } }),
  ).toEqual([...['/path/id', '/query/limit', '/body/n', '/body/inner/list/0']]);
});

test('a repeated parameter is refused, also with equal values', () => {
  for (const query of ['limit=1&limit=1', 'limit=1&limit=2', 'x=1&x=2', '__proto__=1&__proto__=2'])
    expect(findingsOf({ query }), query).not.toEqual([]);
  expect(findingsOf({ query: 'limit=1&limit=2' })).toContain('/query/limit');
});

test('an absent part accepts nothing, and a body without a schema is not read', () => {
  const bare = {} as unknown as Operation;
  expect(findingsOf({ path: {}, body: undefined }, bare)).toEqual([]);
  expect(findingsOf({ path: {}, query: 'a=1' }, bare)).toEqual(['/query']);
  expect(findingsOf({ path: { a: 'b' } }, bare)).toEqual(['/path']);
});

test('no member of a query or body reaches a prototype', () => {
  fc.assert(
    fc.property(
      fc.constantFrom('__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty'),
      (name) => {
        expect(findingsOf({ query: `${name}=1` })).toEqual(['/query']);
        expect(findingsOf({ body: JSON.parse(`{"n":1,"${name}":{"polluted":1}}`) })).toEqual([
          '/body',
        ]);
        expect('polluted' in {}).toBe(false);
      },
    ),
  );
});

test('the message names each place once, and repeats no value', () => {
  fc.assert(
    fc.property(fc.string({ minLength: 12 }), (value) => {
      try {
        checkedParts(one, {
          path: { id: 'a' },
          query: new URLSearchParams({ limit: `${value}!` }),
          body: { n: `${value}!` },
        });
        expect.unreachable();
      } catch (error) {
        expect((error as Error).message).not.toContain(`${value}!`);
        expect(JSON.stringify((error as { evidence: unknown }).evidence)).not.toContain(
          JSON.stringify(`${value}!`).slice(1, -1),
        );
      }
    }),
  );
});
