import type { IncomingMessage } from 'node:http';
import { isIPv6 } from 'node:net';

/** A subscriber has at least these groups of an IPv6 address for itself: 64 bits of 128. */
const NETWORK_GROUPS = 4;
const GROUPS = 8;

/**
 * The address of a client: that of its connection, or behind a proxy the last one of
 * `X-Forwarded-For`, which the proxy added itself. The others are texts of the client. All
 * addresses of one IPv6 network count as one.
 */
export function clientAddress(request: Request, incoming: IncomingMessage | undefined, behindProxy: boolean): string {
  const forwarded = behindProxy ? request.headers.get('x-forwarded-for')?.split(',').at(-1)?.trim() : undefined;
  const address = withoutPort(forwarded || incoming?.socket.remoteAddress || '');
  return isIPv6(address) ? networkOf(address) : address;
}

/** Some proxies add the port of the connection. */
function withoutPort(text: string): string {
  const [, inBrackets, plain] = /^\[(.+)\](?::\d+)?$|^(\d+(?:\.\d+){3}):\d+$/.exec(text) ?? [];
  return inBrackets ?? plain ?? text;
}

function networkOf(address: string): string {
  // The parser of URLs writes each address in one form. It has no zones.
  const text = new URL(`http://[${address.split('%')[0]}]`).hostname.slice(1, -1);
  // An IPv4 address of a socket for both versions is no network.
  if (text.startsWith('::ffff:')) return text;
  const [head = [], tail = []] = text.split('::').map((part) => part.split(':').filter((group) => group !== ''));
  const zeros = Array.from({ length: GROUPS - head.length - tail.length }, () => '0');
  return [...head, ...zeros, ...tail].slice(0, NETWORK_GROUPS).join(':');
}
