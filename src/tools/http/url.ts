import { EffectError, segment } from '#effects';
import { invalidTool } from '../options.ts';

/** A URL with `{member}` for a part of the input, or a function that makes it. */
export type UrlOf<Args extends readonly unknown[]> = string | ((...args: Args) => string);

/** Makes the URL of a call: `members` fill a template, `args` are what a function is given. */
export type UrlMaker<Args extends readonly unknown[]> = (members: unknown, ...args: Args) => URL;

/** `{input.member}` is of the input where there is a result as well. */
const MEMBER = /\{((?:input\.)?[A-Za-z_][A-Za-z0-9_]*)\}/g;

/** What a template is filled with; nothing for a function. */
export function membersOf(url: UrlOf<any>): string[] {
  return typeof url === 'string' ? [...url.matchAll(MEMBER)].map(([, member]) => member!) : [];
}

/**
 * The resource that a URL names, as a scope: `api:host:/path`, or `api:host:port:/path` where the port is not that of the
 * scheme. One resource has one name, however its URL is written: case of scheme and host, default ports, dot segments, needless
 * escapes. Query and fragment are no part of it. Two names of one host stay two.
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
 * A maker of URLs that go nowhere but to the hosts that are allowed. A template says itself where it goes.
 *
 * @throws EffectError `invalid_tool` now; its maker throws `bad_input`
 */
export function urlMaker<Args extends readonly unknown[]>(
  tool: string,
  url: UrlOf<Args>,
  allow: readonly string[] | undefined,
): UrlMaker<Args> {
  const hosts = allow?.map((host) => hostOf(tool, host));
  if (typeof url === 'function') {
    if (hosts === undefined)
      throw invalidTool(tool, 'its URL is made by a function, so it has to say in allow which hosts');
    return (_, ...args) => allowed(parsed(url(...args)), hosts);
  }
  const own = ownHost(tool, url);
  if (hosts !== undefined && !hosts.includes(own))
    throw invalidTool(tool, `its URL goes to ${own}, which is not in allow`);
  return (members, ..._args) => allowed(parsed(filled(url, members)), [own]);
}

/** Where a template goes, whatever it is filled with. */
function ownHost(tool: string, template: string): string {
  const [one, other] = ['x', 'y'].map((filler) => {
    const read = readUrl(template.replaceAll(MEMBER, filler));
    // Without what it is: it may have a password, or a key in its query.
    if (typeof read === 'string') throw invalidTool(tool, `its URL can't be used: ${read}`);
    return read;
  }) as [URL, URL];
  if (one.origin !== other.origin) throw invalidTool(tool, 'no part of the input may say which host its URL goes to');
  return one.host;
}

function hostOf(tool: string, host: string): string {
  const url = URL.parse(`http://${host}`);
  if (url !== null && url.pathname === '/' && url.search === '' && !host.endsWith('/') && url.username === '')
    return url.host;
  // As above.
  const what = host.includes('@') ? 'a text with a user' : JSON.stringify(host);
  throw invalidTool(tool, `allow has ${what}, which is no host; write api.example.com, or api.example.com:8443`);
}

function filled(template: string, members: unknown): string {
  return template.replaceAll(MEMBER, (_, member: string) => {
    const value = (members as Record<string, unknown> | null)?.[member];
    const text = typeof value === 'number' ? String(value) : value;
    // What is empty or a dot would name another resource than the one that is meant.
    if (typeof text === 'string' && text !== '' && text !== '.' && text !== '..') return encodeURIComponent(text);
    throw badInput(`the URL needs ${member}, a number or a text that is not empty and no dot`);
  });
}

function parsed(url: string | URL): URL {
  const read = readUrl(url);
  if (typeof read === 'string') throw badInput(read);
  return read;
}

/** The URL, or what is wrong with it. */
function readUrl(url: string | URL): URL | string {
  const read = url instanceof URL ? url : typeof url === 'string' ? URL.parse(url) : null;
  if (read === null) return 'it has to begin with http:// or https:// and a host';
  if (read.protocol !== 'http:' && read.protocol !== 'https:') return 'a URL begins with http or https';
  if (read.username !== '' || read.password !== '') return 'a URL has no user and no password; use a header';
  return read;
}

function allowed(url: URL, hosts: readonly string[]): URL {
  if (hosts.includes(url.host)) return url;
  throw badInput(`${url.host} is none of the hosts that are allowed`);
}

/** Without the escapes that stand for a letter as well; bytes that are no text keep theirs. */
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
  return new EffectError('bad_input', `This can't be called: ${what}.`);
}
