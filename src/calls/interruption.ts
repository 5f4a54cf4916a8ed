import { isInstance } from '#base';

/** The names of errors that end a call before its outcome is known. */
const NAMES: ReadonlySet<string> = new Set(['AbortError', 'TimeoutError', 'CancelledFailure', 'CancelledError']);

/** The codes of errors before a request has reached its server: it was certainly not taken. */
const UNSENT: ReadonlySet<unknown> = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH']);

/** The codes of errors of a connection that was open. */
const CUT = /^(ECONNRESET|EPIPE|ETIMEDOUT|ECONNABORTED|UND_ERR_)/;

/**
 * Whether an error leaves it open if a call took effect: it was aborted, its time ran out, or the
 * connection ended before the reply. Errors of `fetch` have their reason in `cause`.
 */
export function isInterruption(error: unknown): boolean {
  if (!isInstance(error, Error)) return false;
  if (NAMES.has(error.name)) return true;
  const code = codeOf(error) ?? codeOf(error.cause);
  if (typeof code === 'string') return !UNSENT.has(code) && CUT.test(code);
  return error.name === 'TypeError' && error.message === 'fetch failed';
}

function codeOf(error: unknown): unknown {
  return (error as { readonly code?: unknown } | null | undefined)?.code;
}
