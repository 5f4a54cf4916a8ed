import type { ResolvedServer } from '#config';

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

/** A link that signs in once. Browsers do not send the code, because it is in the fragment. */
export function signInLink(address: string, code: string): string {
  return `${address}/sign-in#${code}`;
}
