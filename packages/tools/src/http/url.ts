import { EffectError, segment } from 'assize/internal/effects';
import { invalidTool } from '../options.ts';

/** A URL template with `{member}` for a part of the input, or a function that returns the URL. */
export type UrlOf<Args extends readonly unknown[]> = string | ((...args: Args) => string);

/** Makes the URL of a call: `members` fill a template, `args` are the arguments of a function. */
export type UrlMaker<Args extends readonly unknown[]> = (members: unknown, ...args: Args) => URL;

/** If there is also a result, `{input.member}` names an input field. */
const MEMBER = /\{((?:input\.)?[A-Za-z_][A-Za-z0-9_]*)\}/g;

/** The fields of a template. Empty for a function. */
export function membersOf(url: UrlOf<any>): string[] {
  return typeof url === 'string' ? [...url.matchAll(MEMBER)].map(([, member]) => member!) : [];
}

/**
 * The resource that a URL names, as a scope: `api:host:/path`, or `api:host:port:/path` if the port
 * is not the scheme's default. One resource has one name for every spelling of its URL: case of
 * scheme and host, default ports, dot segments, needless escapes. Query and fragment are not part
 * of the name. Two names of one host stay distinct.
 *
 * @throws EffectError `bad_input`
 */
export function apiScope(url: string | URL): string {
  const { hostname, port, pathname } = parsed(url);
  const host = segment(hostname.replace(/\.$/, ''));
  const path = pathname
    .slice(1)
    .split('/')
    .map((part) => '/' + segment(unescaped(part)));
  return ['api', host, ...(port === '' ? [] : [port]), path.join('')].join(':');
}

/**
 * Makes URLs that lead only to allowed hosts. A template names its own host.
 *
 * @throws EffectError `invalid_tool` immediately; the returned maker throws `bad_input`
 */
export function urlMaker<Args extends readonly unknown[]>(
  tool: string,
  url: UrlOf<Args>,
  allow: readonly string[] | undefined,
): UrlMaker<Args> {
  const hosts = allow?.map((host) => hostOf(tool, host));
  if (typeof url === 'function') {
    if (hosts === undefined)
      throw invalidTool(tool, 'its URL comes from a function. Name the allowed hosts in allow');
    return (_, ...args) => allowed(parsed(url(...args)), hosts);
  }
  const own = ownHost(tool, url);
  if (hosts !== undefined && !hosts.includes(own))
    throw invalidTool(tool, `its URL goes to ${own}, which is not in allow`);
  return (members, ..._args) => allowed(parsed(filled(url, members)), [own]);
}

/** The host of a template, for every input. */
function ownHost(tool: string, template: string): string {
  const [one, other] = ['x', 'y'].map((filler) => {
    const read = readUrl(template.replaceAll(MEMBER, filler));
    // The message omits the URL: it may contain a password, or a key in its query.
    if (typeof read === 'string') throw invalidTool(tool, `its URL cannot be used: ${read}`);
    return read;
  }) as [URL, URL];
  if (one.origin !== other.origin)
    throw invalidTool(tool, 'its input must not determine the host of the URL');
  return one.host;
}

function hostOf(tool: string, host: string): string {
  const url = URL.parse(`http://${host}`);
  if (
    url !== null &&
    url.pathname === '/' &&
    url.search === '' &&
    !host.endsWith('/') &&
    url.username === ''
  )
    return url.host;
  // The message omits a host with user info, for the same reason.
  const what = host.includes('@') ? 'a text with a user' : JSON.stringify(host);
  throw invalidTool(
    tool,
    `allow has ${what}, which is not a host. Write api.example.com, or api.example.com:8443`,
  );
}

function filled(template: string, members: unknown): string {
  return template.replaceAll(MEMBER, (_, member: string) => {
    const value = (members as Record<string, unknown> | null)?.[member];
    const text = typeof value === 'number' ? String(value) : value;
    // An empty or dot segment would name another resource than intended.
    if (typeof text === 'string' && text !== '' && text !== '.' && text !== '..')
      return encodeURIComponent(text);
    throw badInput(
      `the URL needs ${member} as a number, or as a string other than "", "." and ".."`,
    );
  });
}

function parsed(url: string | URL): URL {
  const read = readUrl(url);
  if (typeof read === 'string') throw badInput(read);
  return read;
}

/** The URL, or the reason why it is invalid. */
function readUrl(url: string | URL): URL | string {
  const read = url instanceof URL ? url : typeof url === 'string' ? URL.parse(url) : null;
  if (read === null) return 'it must start with http:// or https:// and a host';
  if (read.protocol !== 'http:' && read.protocol !== 'https:')
    return 'a URL must start with http or https';
  if (read.username !== '' || read.password !== '')
    return 'a URL must not have a user or a password. Use a header';
  return read;
}

function allowed(url: URL, hosts: readonly string[]): URL {
  if (hosts.includes(url.host)) return url;
  throw badInput(`${url.host} is not an allowed host`);
}

/** Decodes escapes of characters that need none. Bytes that are not UTF-8 keep their escapes. */
export function unescaped(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part.replaceAll(/%([0-9a-f]{2})/gi, (whole, hex: string) => {
      const code = Number.parseInt(hex, 16);
      return code < 0x80 ? String.fromCharCode(code) : whole.toUpperCase();
    });
  }
}

function badInput(what: string): EffectError {
  return new EffectError('bad_input', `The request cannot be sent: ${what}.`);
}
