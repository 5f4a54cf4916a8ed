import { readClaim } from 'assize/internal/effects';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { cases } from '../../../../tests/support/cases.ts';
import { errorOf } from '../../../../tests/support/process/errors.ts';
import { apiScope, httpTool } from './index.ts';
import { urlMaker } from './url.ts';

describe('the scope of a URL', () => {
  test.each([
    ['https://api.example.com/v1/customers/7', 'api:api.example.com:/v1/customers/7'],
    ['HTTPS://API.Example.com:443/v1/./a/../customers/%37', 'api:api.example.com:/v1/customers/7'],
    ['http://api.example.com.:80/a?q=1#f', 'api:api.example.com:/a'],
    ['https://api.example.com:8443/a', 'api:api.example.com:8443:/a'],
    ['https://api.example.com', 'api:api.example.com:/~'],
    ['https://api.example.com/a/', 'api:api.example.com:/a/~'],
    ['https://api.example.com/a%2fb', 'api:api.example.com:/a~2fb'],
    ['https://api.example.com/a%2Fb', 'api:api.example.com:/a~2fb'],
    ['https://api.example.com/*', 'api:api.example.com:/~2a'],
    ['https://api.example.com/%41%ff', 'api:api.example.com:/A~25FF'],
    ['https://bücher.example/ä', 'api:xn--bcher-kva.example:/ä'],
    ['http://[::1]:3000/x', 'api:[~3a~3a1]:3000:/x'],
  ])('%s', (url, scope) => {
    expect(apiScope(url)).toBe(scope);
    expect(readClaim('write', scope).scope.concrete).toBe(true);
  });

  test('is the same however the path is escaped, and another for another path', () => {
    const escapes = (part: string, every: boolean) =>
      every
        ? [...Buffer.from(part)].map((byte) => `%${byte.toString(16)}`).join('')
        : encodeURIComponent(part);
    const part = fc
      .string({ minLength: 1, unit: 'grapheme' })
      .filter((text) => !/^\.+$/.test(text));
    const path = fc.array(part, { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(path, path, (one, other) => {
        const of = (parts: string[], every: boolean) =>
          apiScope(`https://h.example/${parts.map((each) => escapes(each, every)).join('/')}`);
        expect(of(one, true)).toBe(of(one, false));
        const isSame = one.join('\0').normalize('NFC') === other.join('\0').normalize('NFC');
        expect(of(one, true).normalize('NFC') === of(other, false).normalize('NFC')).toBe(isSame);
      }),
      { numRuns: cases(500) },
    );
  });

  test.each(['x', 'ftp://h/a', 'https://user:word@h/a', ''])('does not exist for %j', (url) => {
    expect(errorOf(() => apiScope(url))).toMatchObject({ code: 'bad_input' });
  });
});

describe('a template', () => {
  test('is filled with parts that stay parts', () => {
    const make = urlMaker('t', 'https://h.example/a/{id}?q={id}', undefined);
    fc.assert(
      fc.property(fc.string({ minLength: 1, unit: 'grapheme' }), (id) => {
        if (id === '.' || id === '..') return;
        const url = make({ id });
        expect([url.origin, url.pathname.split('/').length, url.hash]).toEqual([
          'https://h.example',
          3,
          '',
        ]);
        expect([decodeURIComponent(url.pathname.slice(3)), url.searchParams.get('q')]).toEqual([
          id,
          id,
        ]);
      }),
      { numRuns: cases(500) },
    );
    for (const id of ['', '.', '..', null, undefined, {}])
      expect(errorOf(() => make({ id }))).toMatchObject({ code: 'bad_input' });
  });

  test('goes to the hosts that are allowed', () => {
    const make = urlMaker<[string]>('t', (host) => `https://${host}/a`, [
      'api.example.com',
      'other.example.com:8443',
    ]);
    expect(make(null, 'API.example.com').host).toBe('api.example.com');
    expect(make(null, 'other.example.com:8443').port).toBe('8443');
    for (const host of [
      'other.example.com',
      'api.example.com.evil.example',
      'evil.example#api.example.com',
      'x@api.example.com',
    ])
      expect(errorOf(() => make(null, host))).toMatchObject({ code: 'bad_input' });
  });
});

describe('a declaration is refused', () => {
  const sound = {
    name: 'shop.order',
    input: z.strictObject({ what: z.string() }),
    class: { reversibility: 'irreversible', delivery: 'buffered', sink: 'keyed' },
    url: 'https://h.example/orders',
  };
  test.each<[string, object, string]>([
    ['whose class is unknown', { class: 'harmless' }, 'its class must be'],
    [
      'whose host is a part of the input',
      { url: 'https://{what}.example/' },
      'must not determine the host',
    ],
    [
      'whose URL is invalid',
      { url: '/orders' },
      'cannot be used: it must start with http:// or https:// and a host.',
    ],
    [
      'whose URL has what its input has not',
      { url: 'https://h.example/{ident}' },
      'its url has {ident}',
    ],
    ['whose URL is made, with no host allowed', { url: () => 'https://h.example/' }, 'allow'],
    ['whose URL is not allowed', { allow: ['g.example'] }, 'not in allow'],
    ['that allows an invalid host', { allow: ['https://h.example/'] }, 'not a host'],
    ['whose sink is keyed, and gets no key', { idempotencyHeader: null }, 'must receive the key'],
    ['of an invalid method', { method: 'BREW' }, 'method'],
    ['of an invalid header', { headers: { 'a b': 'c' } }, '/headers/a b'],
    ['whose scope does not parse', { writes: ['a//b'] }, 'does not parse'],
    [
      'that asks a sink that is not queryable',
      { reconcile: { url: 'https://h.example/{key}' } },
      'queryable',
    ],
    [
      'that only reads, and undoes',
      { class: 'read', compensate: { url: 'https://h.example/' } },
      'only reads',
    ],
    [
      'that undoes what is irreversible',
      { compensate: { url: 'https://h.example/' } },
      'irreversible',
    ],
    ['with a member too many', { retries: 3 }, 'retries'],
  ])('%s', (_, change, why) => {
    expect(errorOf(() => httpTool({ ...sound, ...change } as never))).toMatchObject({
      reason: 'invalid_tool',
      message: expect.stringContaining(why),
    });
  });

  test.each([
    [{ url: 'https://ada:hunter2@h.example/' }, 'its URL'],
    [{ url: 'h.example/orders?key=hunter2' }, 'its URL'],
    [{ allow: ['ada:hunter2@h.example'] }, 'allow has'],
  ])('without its secret in the error: %j', (change, what) => {
    const { message } = errorOf(() => httpTool({ ...sound, ...change } as never)) as Error;
    expect(message).toContain(what);
    expect(message).not.toContain('hunter2');
  });

  test('that is not an object', () => {
    for (const options of [undefined, null, {}, [], 'x'])
      expect(errorOf(() => httpTool(options as never))).toMatchObject({ reason: 'invalid_tool' });
  });
});
