import { traceparentOf } from 'assize/internal/ledger';

/**
 * The trace context of a request. Of several, which two instrumentations of one client may send,
 * the last counts. Undefined for a malformed one.
 */
export function traceparentFrom(headers: Headers): string | undefined {
  return traceparentOf(headers.get('traceparent')?.split(',').at(-1)?.trim());
}
