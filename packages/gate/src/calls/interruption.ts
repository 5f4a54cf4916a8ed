import { isInstance, isRecord } from 'assize/internal/base';

/** The names of errors that end a call before its outcome is known. */
const NAMES: ReadonlySet<string> = new Set([
  'AbortError',
  'TimeoutError',
  'CancelledFailure',
  'CancelledError',
]);

/** The codes of errors before a request has reached its server: it was certainly not taken. */
const UNSENT: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
]);

/** The codes of errors of a connection that was open. */
const CUT = /^(ECONNRESET|EPIPE|ETIMEDOUT|ECONNABORTED|UND_ERR_)/;

/** The statuses of HTTP after which a request may have been served: a time-out, or any fault. */
const isOpenStatus = (status: unknown): boolean =>
  typeof status === 'number' && (status === 408 || (status >= 500 && status !== 501));

/**
 * Whether an error leaves it open if a call took effect: it was aborted, its time ran out, the
 * connection ended before the reply, or a server or a proxy answered with a fault. Errors of
 * `fetch` have their reason in `cause`. Those of HTTP clients have a status.
 */
export function isInterruption(error: unknown): boolean {
  if (!isInstance(error, Error)) return false;
  if (NAMES.has(error.name)) return true;
  if (statusesOf(error).some(isOpenStatus)) return true;
  const code = codeOf(error) ?? codeOf(error.cause);
  if (typeof code === 'string') return !UNSENT.has(code) && CUT.test(code);
  return error.name === 'TypeError' && error.message === 'fetch failed';
}

/** Where HTTP clients put the status of a refused request. */
function statusesOf(error: unknown): readonly unknown[] {
  const { status, statusCode, response } = error as {
    status?: unknown;
    statusCode?: unknown;
    response?: unknown;
  };
  return [status, statusCode, isRecord(response) ? response['status'] : undefined];
}

function codeOf(error: unknown): unknown {
  return (error as { readonly code?: unknown } | null | undefined)?.code;
}
