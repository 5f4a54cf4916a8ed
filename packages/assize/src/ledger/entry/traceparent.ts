import type { Payload } from './entry.ts';
import { observationsOf } from './observations.ts';

/** The name of the observation that has the trace context of a proposal. */
export const TRACEPARENT = 'assize.traceparent';

const FORM = /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(-.*)?$/;

/** The first four fields. Every version of the form has them. */
const LENGTH = 55;

/**
 * A trace context in the form of W3C (`traceparent`), without the fields of later versions.
 * Undefined for a malformed one.
 */
export function traceparentOf(given: unknown): string | undefined {
  if (typeof given !== 'string' || !FORM.test(given)) return undefined;
  return given.length === LENGTH || !given.startsWith('00') ? given.slice(0, LENGTH) : undefined;
}

/** The trace context that an entry has recorded. */
export function traceparentIn(payload: Payload): string | undefined {
  return traceparentOf(observationsOf(payload).find(({ name }) => name === TRACEPARENT)?.value);
}
