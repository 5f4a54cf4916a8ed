import { ServerError } from '@assize/command/operation';

/** A string of a structured header (RFC 9651, 3.3.3). */
const QUOTED = /^"((?:[ !#-[\]-~]|\\["\\])*)"$/;

/**
 * The idempotency key of a request, empty without one. Bare and in quotes, as the draft of the
 * header has it, it is the same key.
 *
 * @throws ServerError `invalid_request` for several headers, which arrive as one with `, ` between
 */
export function idempotencyKeyOf(headers: Headers): string {
  const value = headers.get('idempotency-key')?.trim() ?? '';
  const [, quoted] = QUOTED.exec(value) ?? [];
  if (quoted !== undefined) return quoted.replaceAll(/\\(["\\])/g, '$1');
  if (!value.startsWith('"') && !value.includes(', ')) return value;
  throw new ServerError(
    'invalid_request',
    'The header Idempotency-Key is no single key. Send it once, bare or in quotes; a key with a comma needs quotes.',
  );
}
