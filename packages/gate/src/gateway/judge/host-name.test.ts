import { describe, expect, test } from 'vitest';
import {
  type Host,
  type HostPattern,
  matchesHost,
  readHost,
  readHostPattern,
} from './host-name.ts';

function allowed(pattern: string, url: string, anyPort = false): boolean | string {
  const read = readHost(url);
  if ('problem' in read) return 'refused';
  return matchesHost(
    (readHostPattern(pattern) as { value: HostPattern }).value,
    read.value,
    anyPort,
  );
}

describe('hosts under the rule docs.example.com', () => {
  test.each<[string, boolean | string]>([
    ['https://docs.example.com/a', true],
    ['https://DOCS.Example.COM', true],
    ['https://docs.example.com./a', true],
    ['https://docs.example.com:443/', true],
    ['http://docs.example.com/', true],
    ['docs.example.com', true],
    ['https://docs.example.com:8443/', false],
    ['http://docs.example.com:443/', false],
    ['https://docs.example.com.evil.com/', false],
    ['https://evil.com/docs.example.com', false],
    ['https://evil.com#docs.example.com', false],
    ['https://evil.com?docs.example.com', false],
    ['https://xdocs.example.com/', false],
    ['https://a.docs.example.com/', false],
    ['https://docs.example.com@evil.com/', 'refused'],
    ['https://a:b@docs.example.com/', 'refused'],
    ['https://@docs.example.com/', 'refused'],
    ['https://evil.com\\@docs.example.com/', 'refused'],
    ['https://evil.com\\.docs.example.com/', 'refused'],
    ['https://docs.example.com\t.evil.com/', 'refused'],
    ['https://docs.example.com\n/', 'refused'],
    [' https://docs.example.com/', 'refused'],
    ['https://docs.example.com../', 'refused'],
    ['https://docs%2eexample.com/', true],
    ['https://docs.ехample.com/', false],
    ['https://ｄocs.example.com/', true],
    ['https://docs。example.com/', true],
    ['file:///docs.example.com', 'refused'],
    ['javascript:docs.example.com', 'refused'],
    ['//docs.example.com/', 'refused'],
    ['docs.example.com/path', 'refused'],
    ['https://', 'refused'],
    ['', 'refused'],
  ])('%j', (url, expected) => expect(allowed('docs.example.com', url)).toBe(expected));
});

test('*.example.com matches hosts below example.com, and not itself', () => {
  expect(allowed('*.example.com', 'https://a.b.example.com')).toBe(true);
  expect(allowed('*.example.com', 'https://example.com')).toBe(false);
  expect(allowed('*.example.com', 'https://badexample.com')).toBe(false);
});

test('a port in a rule is exact, and a rule that refuses meets every port', () => {
  expect(allowed('example.com:8443', 'https://example.com:8443/')).toBe(true);
  expect(allowed('example.com:8443', 'https://example.com/')).toBe(false);
  expect(allowed('example.com:443', 'https://example.com/')).toBe(true);
  expect(allowed('example.com', 'https://example.com:8443/', true)).toBe(true);
});

test('other spellings of one address are one host', () => {
  for (const url of ['http://127.0.0.1/', 'http://0x7f.1/', 'http://2130706433/', 'http://127.1/'])
    expect((readHost(url) as { value: Host }).value.name).toBe('127.0.0.1');
  expect(readHost('https://bücher.example/')).toEqual(readHost('https://xn--bcher-kva.example/'));
});

test('a pattern with a star elsewhere, a scheme or a path is refused', () => {
  for (const pattern of [
    '*',
    'a.*.com',
    '*example.com',
    'https://example.com',
    'example.com/x',
    'a@example.com',
    '',
  ])
    expect(readHostPattern(pattern)).toHaveProperty('problem');
});
