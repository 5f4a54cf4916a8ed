import { readScope, segment } from 'assize/internal/authority';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cases } from '../../../../tests/support/cases.ts';
import { apiResolver, apiScope } from './index.ts';

const asked = { access: 'write', isPattern: false, signal: new AbortController().signal } as const;
const aliases = { 'WWW.shop.example.': 'shop.example', 'bücher.example': 'books.example' };
const resolved = (scope: string): string => apiResolver(aliases)(scope, asked) as string;

describe('the name of a resource of an API', () => {
  test.each([
    ['api:shop.example:/a', 'api:shop.example:/a'],
    ['api:Shop.Example.:443:/a', 'api:shop.example:/a'],
    ['api:www.shop.example:80', 'api:shop.example'],
    ['api:shop.example:8443:/a', 'api:shop.example:8443:/a'],
    ['api:shop.example:/a%20b/%41', 'api:shop.example:/a b/A'],
    ['api:shop.example:/A', 'api:shop.example:/A'],
    ['api:xn--bcher-kva.example:**', 'api:books.example:**'],
    ['api:bücher.example:/*', 'api:books.example:/*'],
    ['api:[~3a~3a0001]:3000:/x', 'api:[~3a~3a1]:3000:/x'],
    ['api:Stripe:customers:cus_A', 'api:stripe:customers:cus_A'],
    ['api:*:/a', 'api:*:/a'],
    ['api:**', 'api:**'],
    ['api', 'api'],
  ])('%s is %s', (scope, name) => {
    expect(resolved(scope)).toBe(name);
  });

  test('is the one that the scope of its URL has, and a name of itself', () => {
    const part = fc
      .string({ minLength: 1, unit: 'grapheme' })
      .filter((text) => !/^\.+$/.test(text));
    const host = fc.oneof(
      fc.domain(),
      fc.ipV6().map((ip) => `[${ip}]`),
      fc.ipV4(),
    );
    fc.assert(
      fc.property(
        host,
        fc.constantFrom('http', 'https'),
        fc.constantFrom('', ':8080'),
        fc.array(part),
        (at, scheme, port, path) => {
          const scope = apiScope(
            `${scheme}://${at}${port}/${path.map(encodeURIComponent).join('/')}`,
          );
          const name = readScope(scope).text;
          expect(readScope(resolved(name)).text).toBe(name);
        },
      ),
      { numRuns: cases(2_000) },
    );
  });

  test('is a scope, and the name of itself, for any parts', () => {
    const part = fc.string({ unit: 'binary' }).map(segment);
    fc.assert(
      fc.property(fc.array(part, { minLength: 1 }), (parts) => {
        const given = readScope(['api', ...parts].join(':').slice(0, 500)).text;
        const name = readScope(resolved(given)).text;
        expect(readScope(resolved(name)).text).toBe(name);
      }),
      { numRuns: cases(2_000) },
    );
  });
});

test.each([
  null,
  7,
  ['a'],
  { 'a b/c': 'x' },
  { a: 'h:80' },
  { a: 'b', b: 'c' },
  { a: 7 },
  { a: '' },
])('aliases that are %j are refused', (given) => {
  expect(() => apiResolver(given as never)).toThrow(
    expect.objectContaining({ reason: 'invalid_tool' }),
  );
});
