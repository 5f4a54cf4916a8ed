import { type Resolver, segment } from 'assize/internal/effects';
import { invalidTool } from '../options.ts';
import { unsegment } from '../segment.ts';
import { unescaped } from './url.ts';

/**
 * Host aliases: each alternative name, with the canonical name of the host:
 * `{ 'www.shop.example': 'shop.example' }`.
 */
export type HostAliases = Readonly<Record<string, string>>;

/**
 * Resolves scopes of HTTP APIs (`api:host:/path`) to the names of `apiScope`. The host is in lower
 * case and ASCII, without a trailing dot and without the ports of `http` and `https`. Aliases of a
 * host become its canonical name. The rest of the scope is unchanged, except that needless escapes
 * in a path are decoded. A name that is not a host (`api:stripe:…`) is put in lower case.
 *
 * @throws EffectError `invalid_tool` for an invalid host, or for an alias of an alias
 */
export function apiResolver(aliases: HostAliases = {}): Resolver {
  if (typeof aliases !== 'object' || aliases === null || Array.isArray(aliases))
    throw invalidTool('apiResolver', 'aliases must be an object of hosts');
  const known = new Map<string, string>();
  for (const [alias, host] of Object.entries(aliases)) known.set(hostName(alias), hostName(host));
  for (const host of known.values())
    if (known.has(host))
      throw invalidTool('apiResolver', `${host} cannot be both an alias and a canonical name`);
  return (scope) => {
    const [kind, host, ...rest] = scope.split(':');
    if (host === undefined || host.startsWith('/') || host.startsWith('*')) return scope;
    const name = canonicalHost(unsegment(host));
    const port = rest[0] === '80' || rest[0] === '443' ? rest.slice(1) : rest;
    return [kind, segment(known.get(name) ?? name), ...port.map(pathOf)].join(':');
  };
}

function hostName(given: unknown): string {
  const host = typeof given === 'string' && /^[^/:?#@\\]+$/.test(given) ? canonicalHost(given) : '';
  if (host !== '') return host;
  const shown =
    typeof given === 'string' ? JSON.stringify(given) : `a value of type ${typeof given}`;
  throw invalidTool('apiResolver', `${shown} is not a host. Write shop.example, without a port`);
}

/** The host as a URL has it: lower case, ASCII, and numeric addresses in their usual form. */
function canonicalHost(host: string): string {
  return (URL.parse(`http://${host}/`)?.hostname ?? host.toLowerCase()).replace(/\.$/, '');
}

/** Decodes needless escapes, as `apiScope` does. */
function pathOf(part: string): string {
  if (!part.startsWith('/')) return part;
  const names = part.slice(1).split('/');
  return names
    .map((name) => `/${name.includes('%') ? segment(unescaped(unsegment(name))) : name}`)
    .join('');
}
