import type { ResolvedServer } from 'assize/internal/config';

/** The address of a server for its clients, without a slash at the end. */
export function publicAddress({
  publicUrl,
  tls,
  host,
  port,
}: Pick<ResolvedServer, 'publicUrl' | 'tls' | 'host' | 'port'>): string {
  if (publicUrl !== undefined) return new URL(publicUrl).origin;
  return `${tls === undefined ? 'http' : 'https'}://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** The address of a server for other servers. The port 0 stands for the port that it listens on. */
export function peerAddress({
  peerUrl,
  port,
}: Pick<ResolvedServer, 'peerUrl' | 'port'>): string | undefined {
  if (peerUrl === undefined) return undefined;
  const url = new URL(peerUrl);
  if (url.port === '0') url.port = String(port);
  return url.origin;
}

/** A link that signs in once. Browsers do not send the code, because it is in the fragment. */
export function signInLink(address: string, code: string): string {
  return `${address}/sign-in#${code}`;
}
