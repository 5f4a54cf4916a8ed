import { CliError } from '../errors.ts';

/** Names of this machine, with a port and without a scheme. */
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?(?:\/|$)/i;

/**
 * The one reader of options and variables with an address of HTTP. `localhost:4517` is a server of
 * this machine. Undefined: the text is another one.
 */
export function httpUrl(text: string): URL | undefined {
  const given = text.trim();
  const whole = LOOPBACK.test(given) ? `http://${given}` : given;
  return /^https?:\/\/[^/]/i.test(whole) ? (URL.parse(whole) ?? undefined) : undefined;
}

/** The origin of a server. @throws CliError `usage` */
export function serverAddress(text: string): string {
  const url = httpUrl(text);
  if (url !== undefined) return url.origin;
  throw new CliError(
    'usage',
    `'${text}' is not the address of a server. Pass --url http://HOST:PORT.`,
  );
}

/** The error of a request that got no answer. */
export function unanswered(origin: string, cause: unknown): CliError {
  const { code } = ((cause as { readonly cause?: unknown }).cause ?? {}) as {
    readonly code?: unknown;
  };
  const text = /CERT|SELF_SIGNED|VERIFY/.test(String(code))
    ? `The certificate of ${origin} is not trusted (${code}). Name the file of its authority in NODE_EXTRA_CA_CERTS.`
    : `The server ${origin} does not answer. Start it with assize serve, or pass --url.`;
  return new CliError('bad_input', text, { cause });
}
