import { errorMessage, isAssizeError } from 'assize/internal/base';

/** Refusals of callers who are not known. Their answers say little, and the log says why. */
const CODES: ReadonlySet<string> = new Set([
  ...['unauthenticated', 'session_changed', 'sign_in_failed', 'issuer_unreachable', 'bad_host', 'bad_origin'],
]);
const REASON_MAX = 300;

/** The reason of such a refusal, for the operator of a provider or a proxy. It has no secret. */
export function refusalReason(error: unknown): string | undefined {
  if (!isAssizeError(error) || !CODES.has(error.code)) return undefined;
  const { error: said } = (error.cause ?? {}) as { readonly error?: unknown };
  const cause = [errorMessage(error.cause), typeof said === 'string' ? said : undefined].filter(
    (text) => text !== undefined,
  );
  return (cause.length === 0 ? error.message : cause.join(': ')).slice(0, REASON_MAX).toWellFormed();
}
