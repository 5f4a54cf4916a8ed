import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isPrivateAddress, isPublicAddress } from './address-rules.ts';

test.each([
  '0.0.0.0',
  '10.1.2.3',
  '100.64.0.1',
  '127.0.0.1',
  '127.255.255.255',
  '169.254.169.254',
  '172.16.0.1',
  '172.31.255.255',
  '192.0.0.1',
  '192.168.1.1',
  '198.18.0.1',
  '203.0.113.9',
  '224.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '::ffff:127.0.0.1',
  '::ffff:8.8.8.8',
  '::ffff:a9fe:a9fe',
  '64:ff9b::a9fe:a9fe',
  '2002:7f00:1::',
  '2001::1',
  '2001:db8::1',
  'fc00::1',
  'fd00:ec2::254',
  'fe80::1',
  'fec0::1',
  'ff02::1',
  'localhost',
  '',
])('is not a public address: %s', (address) => {
  expect(isPublicAddress(address)).toBe(false);
});

test.each([
  '8.8.8.8',
  '1.1.1.1',
  '172.32.0.1',
  '192.167.0.1',
  '2606:4700:4700::1111',
  '2a00:1450::1',
])('is a public address: %s', (address) => {
  expect(isPublicAddress(address)).toBe(true);
  expect(isPrivateAddress(address)).toBe(false);
});

test.each([
  '10.0.0.1',
  '127.0.0.1',
  '172.16.9.9',
  '192.168.0.7',
  '::1',
  'fd12::1',
  '::ffff:127.0.0.1',
])('is a private address: %s', (address) => {
  expect(isPrivateAddress(address)).toBe(true);
});

test.each([
  '169.254.169.254',
  'fd00:ec2::254',
  'FD00:0ec2:0::0254',
  'fe80::1',
  '0.0.0.0',
  '::',
  '::ffff:169.254.169.254',
])('is neither public nor private: %s', (address) => {
  expect([isPublicAddress(address), isPrivateAddress(address)]).toEqual([false, false]);
});

test('no address is both public and private', () => {
  fc.assert(
    fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), (address) => {
      expect(isPublicAddress(address) && isPrivateAddress(address)).toBe(false);
    }),
  );
});
