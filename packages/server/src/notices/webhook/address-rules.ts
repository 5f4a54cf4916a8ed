import { BlockList, isIP } from 'node:net';

/**
 * The ranges of IPv4 that are not global unicast addresses (IANA IPv4 Special-Purpose Address
 * Registry, RFC 6890), multicast included.
 */
const SPECIAL_V4: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
];

/** Parts of 2000::/3 that lead elsewhere, to an embedded IPv4 address, or to documentation. */
const SPECIAL_V6: readonly (readonly [string, number])[] = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
];

const PRIVATE_V4: readonly (readonly [string, number])[] = [
  ['10.0.0.0', 8],
  ['127.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
];

const PRIVATE_V6: readonly (readonly [string, number])[] = [
  ['::1', 128],
  ['fc00::', 7],
];

/** Addresses of private networks at which a cloud gives its credentials. */
const METADATA_V6: readonly (readonly [string, number])[] = [['fd00:ec2::254', 128]];

const special = listOf(SPECIAL_V4, SPECIAL_V6);
const privateOnly = listOf(PRIVATE_V4, PRIVATE_V6);
const metadata = listOf([], METADATA_V6);
const unicast = listOf([], [['2000::', 3]]);

/** Whether the address is global unicast: not private, loopback, link-local, mapped or reserved. */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return !special.check(address, 'ipv4');
  return family === 6 && unicast.check(address, 'ipv6') && !special.check(address, 'ipv6');
}

/** Whether the address is loopback or of a private network. Link-local addresses are neither. */
export function isPrivateAddress(address: string): boolean {
  const family = isIP(address);
  // A mapped IPv4 address is compared with the ranges of IPv4.
  if (family === 6 && metadata.check(address, 'ipv6')) return false;
  return family !== 0 && privateOnly.check(address, family === 4 ? 'ipv4' : 'ipv6');
}

function listOf(
  v4: readonly (readonly [string, number])[],
  v6: readonly (readonly [string, number])[],
): BlockList {
  const list = new BlockList();
  for (const [net, prefix] of v4) list.addSubnet(net, prefix, 'ipv4');
  for (const [net, prefix] of v6) list.addSubnet(net, prefix, 'ipv6');
  return list;
}
