import { ServerError } from '@assize/command/operation';
import { isLoopback } from '../loopback.ts';

/** The names under which clients reach the server. */
export interface Addresses {
  /** `https://assize.example.com` or `http://127.0.0.1:4517`: the origin of the server's pages. */
  readonly origin: string;
  /** Values of the header Host that are accepted. */
  readonly hosts: ReadonlySet<string>;
}

/**
 * The addresses of a server. A loopback server also answers to `localhost`. `peerUrl`: its address
 * for other servers.
 */
export function addressesOf(
  publicUrl: string,
  host: string,
  port: number,
  peerUrl?: string,
): Addresses {
  const { origin, host: named } = new URL(publicUrl);
  const loopback = isLoopback(host)
    ? [`127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`]
    : [];
  const peer = peerUrl === undefined ? [] : [new URL(peerUrl).host];
  return { origin, hosts: new Set([named, ...loopback, ...peer]) };
}

/**
 * Refuses another host name. Otherwise a page of another site, whose name resolves to this address,
 * could use the server (DNS rebinding).
 *
 * @throws ServerError `bad_host`
 */
export function checkHost(host: string | undefined, { hosts }: Addresses): void {
  if (host !== undefined && hosts.has(host.toLowerCase())) return;
  const cause = new Error(
    `the header Host is ${JSON.stringify(host ?? '').slice(0, 100)}, not ${[...hosts].join(', ')}`,
  );
  const text = 'The host name of the request is not one of this server. Use its public address.';
  throw new ServerError('bad_host', text, { cause });
}

/**
 * Refuses a request with a session that a page of another site may have sent. Requests that only
 * read pass, because another site cannot read their answers.
 *
 * @throws ServerError `bad_origin`
 */
export function checkOrigin(request: Request, { origin }: Addresses): void {
  const site = request.headers.get('sec-fetch-site');
  const from = request.headers.get('origin');
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  const isOwn =
    from === null ? isRead && (site === null || site !== 'cross-site') : from === origin;
  if (isOwn && site !== 'cross-site') return;
  if (from === null && site === null)
    throw new ServerError(
      'bad_origin',
      `A request with a session that changes something needs the header Origin: ${origin}. Programs send a token instead: Authorization: Bearer TOKEN.`,
    );
  throw new ServerError(
    'bad_origin',
    `A page of another site sent the request. Only pages of ${origin} may change something with a session.`,
  );
}

/** The headers of every answer. `nonce` allows one script of a page. */
export function securityHeaders(nonce?: string): Readonly<Record<string, string>> {
  const script = nonce === undefined ? "'none'" : `'nonce-${nonce}'`;
  return headersWith(`script-src ${script}; style-src 'nonce-${nonce ?? ''}'`);
}

/**
 * The headers of the console's pages and files. Scripts come from files of the server only. `nonce`
 * allows the style elements that the components add; their places and sizes are style attributes.
 */
export function consoleHeaders(nonce?: string): Readonly<Record<string, string>> {
  const styles = nonce === undefined ? "'self'" : `'self' 'nonce-${nonce}'`;
  return headersWith(
    `script-src 'self'; style-src ${styles}; style-src-attr 'unsafe-inline'; img-src 'self' data:; font-src 'self'`,
  );
}

function headersWith(sources: string): Readonly<Record<string, string>> {
  return {
    'cache-control': 'no-store',
    'content-security-policy': `default-src 'none'; ${sources}; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'`,
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
  };
}
