/**
 * The thrown value, or an error in its place if it cannot be inspected. Any value can be thrown,
 * even a revoked Proxy. A second error during inspection would stop the caller from undoing its
 * changes. The result can be tested with `instanceof Error`. An error's code can be read, and its
 * message is a string.
 */
export function toError(thrown: unknown): unknown {
  try {
    if (!(thrown instanceof Error)) return thrown;
    const { message, code: _ } = thrown as Error & { readonly code?: unknown };
    return typeof message === 'string' ? thrown : withoutText();
  } catch {
    return withoutText();
  }
}

function withoutText(): Error {
  return new Error('the thrown value cannot be read');
}
