import { expect, test } from 'vitest';
import { publicAddress, signInLink } from './public-address.ts';

const LOCAL = { publicUrl: undefined, tls: undefined, host: '127.0.0.1', port: 4517 };
const tls = { certFile: 'cert.pem', keyFile: 'key.pem' };

test.each([
  [LOCAL, 'http://127.0.0.1:4517'],
  [{ ...LOCAL, host: '::1' }, 'http://[::1]:4517'],
  [{ ...LOCAL, tls, host: 'assize.example.com' }, 'https://assize.example.com:4517'],
  [{ ...LOCAL, publicUrl: 'https://assize.example.com/' }, 'https://assize.example.com'],
  [
    { ...LOCAL, tls, publicUrl: 'https://assize.example.com:8443' },
    'https://assize.example.com:8443',
  ],
])('the address of %j is %s', (server, address) => {
  expect(publicAddress(server)).toBe(address);
  expect(signInLink(address, 'c0de')).toBe(`${address}/sign-in#c0de`);
});
