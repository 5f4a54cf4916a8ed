import type { IncomingMessage } from 'node:http';
import { expect, test } from 'vitest';
import { clientAddress } from './sign-in.ts';

function addressOf(
  remoteAddress: string | undefined,
  forwarded?: string,
  behindProxy = true,
): string {
  const request = new Request(
    'http://assize',
    forwarded === undefined ? {} : { headers: { 'x-forwarded-for': forwarded } },
  );
  return clientAddress(request, { socket: { remoteAddress } } as IncomingMessage, behindProxy);
}

test.each([
  ['1.2.3.4', '1.2.3.4'],
  ['::ffff:1.2.3.4', '::ffff:102:304'],
  ['2001:db8:0:1:a::b', '2001:db8:0:1'],
  ['2001:DB8::1', '2001:db8:0:0'],
  ['2001:db8:0:0:ffff::', '2001:db8:0:0'],
  ['::1', '0:0:0:0'],
  ['fe80::1%eth0', 'fe80:0:0:0'],
  ['1:2:3:4:5:6:7:8', '1:2:3:4'],
  [undefined, ''],
])('the connection %s has the address %j', (remote, wanted) => {
  expect(addressOf(remote)).toBe(wanted);
  // Without a stated proxy the header says nothing.
  expect(addressOf(remote, '9.9.9.9', false)).toBe(wanted);
});

test.each([
  ['1.2.3.4', '1.2.3.4'],
  ['9.9.9.9, 1.2.3.4', '1.2.3.4'],
  ['9.9.9.9,2001:db8::1', '2001:db8:0:0'],
  ['1.2.3.4:5678', '1.2.3.4'],
  ['[2001:db8::1]:5678', '2001:db8:0:0'],
  ['[2001:db8::1]', '2001:db8:0:0'],
  ['unknown', 'unknown'],
  ['1.2.3.4, ', '7.7.7.7'],
  ['', '7.7.7.7'],
])('behind a proxy X-Forwarded-For: %s is %s', (forwarded, wanted) => {
  expect(addressOf('7.7.7.7', forwarded)).toBe(wanted);
});
