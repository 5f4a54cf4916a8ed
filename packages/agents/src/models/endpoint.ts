import { badOption } from './errors.ts';

/**
 * The URL of an operation below a base URL.
 *
 * @throws ModelError `bad_argument`: another protocol, a user, a query or a fragment; or a key that
 * plain HTTP would carry to another host
 */
export function endpointOf(baseUrl: string, path: string, hasKey: boolean): URL {
  const url = typeof baseUrl === 'string' ? URL.parse(baseUrl) : null;
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:'))
    throw badOption('baseUrl', 'pass an http or https URL, such as http://127.0.0.1:11434/v1');
  if (url.username !== '' || url.password !== '')
    throw badOption('baseUrl', 'it has a user; pass a key as apiKey');
  if (url.search !== '' || url.hash !== '')
    throw badOption('baseUrl', 'it has a query or a fragment; pass a key as apiKey');
  if (hasKey && url.protocol === 'http:' && !isLoopback(url.hostname))
    throw badOption(
      'baseUrl',
      'plain HTTP would show the API key to the network; use https, or a loopback host',
    );
  url.pathname = `${url.pathname.replace(/\/+$/, '')}${path}`;
  return url;
}

/**
 * A key that can be sent. The error does not quote the key.
 *
 * @throws ModelError `bad_argument`
 */
export function checkedKey(key: unknown): string | undefined {
  if (key === undefined) return undefined;
  if (typeof key === 'string' && /^[\x21-\x7e]{1,4096}$/.test(key)) return key;
  throw badOption('apiKey', 'a key is 1 to 4,096 visible ASCII characters without spaces');
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || /^127(\.\d{1,3}){3}$/.test(host);
}
