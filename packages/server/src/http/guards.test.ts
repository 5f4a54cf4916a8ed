import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isLoopback } from '../loopback.ts';
import { addressesOf, checkHost, checkOrigin, securityHeaders } from './guards.ts';

const LOCAL = addressesOf('http://127.0.0.1:4517', '127.0.0.1', 4517);
const PUBLIC = addressesOf('https://assize.example.com', '0.0.0.0', 8080);

function isRefused(call: () => void): string | undefined {
  try {
    call();
    return undefined;
  } catch (error) {
    return (error as { code: string }).code;
  }
}

function requestOf(method: string, headers: Record<string, string>): Request {
  return new Request('http://127.0.0.1:4517/', { method, headers });
}

test('a server on loopback has three names, and a public one the public name', () => {
  for (const host of ['127.0.0.1:4517', 'localhost:4517', 'LOCALHOST:4517', '[::1]:4517'])
    expect(
      isRefused(() => checkHost(host, LOCAL)),
      host,
    ).toBeUndefined();
  expect(isRefused(() => checkHost('assize.example.com', PUBLIC))).toBeUndefined();
  for (const host of [
    undefined,
    '',
    'localhost',
    '127.0.0.1:4518',
    'localhost.evil.example:4517',
    '127.0.0.1:4517, a',
  ])
    expect(
      isRefused(() => checkHost(host, LOCAL)),
      host,
    ).toBe('bad_host');
  for (const host of [
    'localhost:8080',
    '0.0.0.0:8080',
    'assize.example.com:8080',
    'assize.example.com.',
  ])
    expect(
      isRefused(() => checkHost(host, PUBLIC)),
      host,
    ).toBe('bad_host');
});

test('any other host is refused', () => {
  fc.assert(
    fc.property(fc.oneof(fc.domain(), fc.ipV4(), fc.string()), (host) => {
      if (LOCAL.hosts.has(host.toLowerCase())) return;
      expect(isRefused(() => checkHost(host, LOCAL))).toBe('bad_host');
    }),
  );
});

test('only addresses of this machine are loopback', () => {
  for (const host of ['127.0.0.1', '127.9.8.7', 'localhost', '::1', '[::1]'])
    expect(isLoopback(host), host).toBe(true);
  for (const host of [
    '0.0.0.0',
    '::',
    '10.0.0.1',
    '127.0.0.1.evil.example',
    'localhost.evil.example',
    '128.0.0.1',
    '',
  ])
    expect(isLoopback(host), host).toBe(false);
});

test('a change with a session needs the origin of the server', () => {
  fc.assert(
    fc.property(
      fc.constantFrom('POST', 'DELETE', 'PUT'),
      fc.option(fc.webUrl(), { nil: undefined }),
      (method, origin) => {
        const request = requestOf(method, origin === undefined ? {} : { origin });
        expect(isRefused(() => checkOrigin(request, LOCAL))).toBe('bad_origin');
      },
    ),
  );
  expect(
    isRefused(() => checkOrigin(requestOf('POST', { origin: LOCAL.origin }), LOCAL)),
  ).toBeUndefined();
});

test('the refusal of a program without an origin advises to send a token', () => {
  const refused = (): void => checkOrigin(requestOf('POST', {}), LOCAL);
  expect(refused).toThrow(`needs the header Origin: ${LOCAL.origin}`);
  expect(refused).toThrow('Authorization: Bearer TOKEN');
  const foreign = (): void =>
    checkOrigin(requestOf('POST', { origin: 'https://evil.example' }), LOCAL);
  expect(foreign).toThrow(`Only pages of ${LOCAL.origin}`);
});

test('a read passes without an origin, unless another site sent it', () => {
  for (const site of ['same-origin', 'none', 'same-site'])
    expect(
      isRefused(() => checkOrigin(requestOf('GET', { 'sec-fetch-site': site }), LOCAL)),
      site,
    ).toBeUndefined();
  expect(isRefused(() => checkOrigin(requestOf('GET', {}), LOCAL))).toBeUndefined();
  expect(
    isRefused(() => checkOrigin(requestOf('GET', { 'sec-fetch-site': 'cross-site' }), LOCAL)),
  ).toBe('bad_origin');
  const both = { origin: LOCAL.origin, 'sec-fetch-site': 'cross-site' };
  expect(isRefused(() => checkOrigin(requestOf('POST', both), LOCAL))).toBe('bad_origin');
});

test('no page may be framed, and only a script with the nonce runs', () => {
  const policy = securityHeaders('abc')['content-security-policy'];
  expect(policy).toContain("script-src 'nonce-abc'");
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).not.toContain('unsafe-inline');
  expect(securityHeaders()['content-security-policy']).toContain("script-src 'none'");
});
