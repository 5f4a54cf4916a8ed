import { expect, test } from 'vitest';
import { httpUrl, serverAddress, unanswered } from './server-address.ts';

test.each([
  ['localhost:4517', 'http://localhost:4517'],
  ['LOCALHOST:4517/', 'http://localhost:4517'],
  [' 127.0.0.1:4517 ', 'http://127.0.0.1:4517'],
  ['[::1]:4517', 'http://[::1]:4517'],
  ['localhost', 'http://localhost'],
  ['https://assize.example.com/', 'https://assize.example.com'],
  ['HTTP://127.0.0.1:4517/v1', 'http://127.0.0.1:4517'],
])('%s is the server %s', (text, origin) => {
  expect(serverAddress(text)).toBe(origin);
});

test.each([
  '',
  'foo',
  'foo:4517',
  'example.com:443',
  'localhost:port',
  'ftp://localhost',
  'file:///etc',
  'http://',
  'http:///x',
])('%j is refused', (text) => {
  expect(httpUrl(text)).toBeUndefined();
  expect(() => serverAddress(text)).toThrow('Pass --url http://HOST:PORT');
});

test('the error names a certificate that is not trusted, or a silent server', () => {
  const failed = (code: string) =>
    new TypeError('fetch failed', { cause: Object.assign(new Error(), { code }) });
  for (const code of [
    'DEPTH_ZERO_SELF_SIGNED_CERT',
    'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    'CERT_HAS_EXPIRED',
  ])
    expect(unanswered('https://a', failed(code)).message).toContain('NODE_EXTRA_CA_CERTS');
  for (const thrown of [failed('ECONNREFUSED'), new TypeError('fetch failed')])
    expect(unanswered('https://a', thrown).message).toContain('does not answer');
});
