import { randomUUID } from 'node:crypto';
import { ServerError } from '@assize/command/operation';
import { traceparentOf } from 'assize/internal/ledger';

const ids = new WeakMap<Request, string>();
const forwarded = new WeakSet<Request>();

/** The id of a request, for its log lines and its problem document. Never a value of the client. */
export function requestIdOf(request: Request): string {
  const known = ids.get(request) ?? randomUUID();
  ids.set(request, known);
  return known;
}

/** Gives a request the id that it has at the server that forwarded it. */
export function adoptRequestId(request: Request, id: string): void {
  ids.set(request, id);
  forwarded.add(request);
}

/** Whether another server of the store forwarded the request. */
export function isForwarded(request: Request): boolean {
  return forwarded.has(request);
}

/** A string of a structured header (RFC 9651, 3.3.3). */
const QUOTED = /^"((?:[ !#-[\]-~]|\\["\\])*)"$/;

/**
 * The idempotency key of a request, empty without one. Bare and in quotes, as the draft of the
 * header has it, it is the same key.
 *
 * @throws ServerError `invalid_request` for several headers. They arrive as one with `, ` between
 */
export function idempotencyKeyOf(headers: Headers): string {
  const value = headers.get('idempotency-key')?.trim() ?? '';
  const [, quoted] = QUOTED.exec(value) ?? [];
  if (quoted !== undefined) return quoted.replaceAll(/\\(["\\])/g, '$1');
  if (!value.startsWith('"') && !value.includes(', ')) return value;
  throw new ServerError(
    'invalid_request',
    'The header Idempotency-Key is not a single key. Send it once, bare or in quotes; a key with a comma needs quotes.',
  );
}

/**
 * The trace context of a request. Two instrumentations of one client may send several;
 * the last counts. Undefined for a malformed one.
 */
export function traceparentFrom(headers: Headers): string | undefined {
  return traceparentOf(headers.get('traceparent')?.split(',').at(-1)?.trim());
}
