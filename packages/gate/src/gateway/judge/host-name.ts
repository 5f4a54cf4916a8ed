import type { Found } from './path-name.ts';

/** A host in normal form: lower case, punycode, no dot at the end. The port is always present. */
export interface Host {
  readonly name: string;
  readonly port: number;
  /** Whether the port is the usual one of the scheme. */
  readonly usual: boolean;
}

const PORTS: Readonly<Record<string, number>> = {
  'http:': 80,
  'https:': 443,
  'ws:': 80,
  'wss:': 443,
  'ftp:': 21,
};
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const REFUSED = /[\u0000-\u0020\u007f\\\u00a0\u2028\u2029]/;

/** The host of a URL, or of a text such as `example.com:8443`. */
export function readHost(given: unknown): Found<Host> {
  if (typeof given !== 'string') return { problem: 'is not a text' };
  if (given.length > 8192) return { problem: 'is longer than 8192 characters' };
  // A URL parser drops some of these characters, and reads a backslash as a slash.
  if (REFUSED.test(given)) return { problem: 'has a space, a backslash or a control character' };
  const isUrl = /^[A-Za-z][A-Za-z0-9+.-]*:\/\//.test(given);
  if (!isUrl && /[/?#@]/.test(given)) return { problem: 'is neither a URL nor a host' };
  const url = URL.parse(isUrl ? given : `https://${given}`);
  if (url === null) return { problem: 'is not a URL' };
  if (url.username !== '' || url.password !== '' || /^[^/]*:\/\/[^/?#]*@/.test(given))
    return { problem: 'has a user name before the host' };
  const usualPort = PORTS[url.protocol];
  if (usualPort === undefined)
    return { problem: `has the scheme ${url.protocol}, which is not supported` };
  const name = url.hostname.replace(/\.$/, '');
  if (name === '' || name.endsWith('.')) return { problem: 'has no host' };
  const port = url.port === '' ? usualPort : Number(url.port);
  return { value: { name, port, usual: port === usualPort } };
}

/** A pattern of hosts: `example.com`, `*.example.com`, and either with a port. */
export interface HostPattern {
  readonly name: string;
  readonly below: boolean;
  readonly port: number | undefined;
}

export function readHostPattern(text: string): Found<HostPattern> {
  const below = text.startsWith('*.');
  const host = below ? text.slice(2) : text;
  if (host.includes('*')) return { problem: 'may have a star only as *. at its start' };
  if (host.includes('/')) return { problem: 'must be a host, without scheme and path' };
  const read = readHost(host);
  if ('problem' in read) return read;
  const port = /:(\d+)$/.exec(host)?.[1];
  return {
    value: { name: read.value.name, below, port: port === undefined ? undefined : Number(port) },
  };
}

/**
 * Whether a pattern matches a host. A pattern without a port matches the usual port of the scheme;
 * with `anyPort` it matches every port.
 */
export function matchesHost(pattern: HostPattern, host: Host, anyPort: boolean): boolean {
  const isName = pattern.below
    ? host.name.endsWith(`.${pattern.name}`)
    : host.name === pattern.name;
  if (!isName) return false;
  if (pattern.port === undefined) return anyPort || host.usual;
  return pattern.port === host.port;
}
