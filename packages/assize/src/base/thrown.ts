/**
 * Any value can be thrown, even a revoked Proxy, and any look at it may throw again. A second error
 * would stop the caller from undoing its changes. So code that catches a value uses these functions
 * and no `instanceof`.
 */

/**
 * The thrown value, or an error in its place if it cannot be inspected. The result can be tested
 * with `instanceof Error`. An error's code can be read, and its message is a string.
 */
export function toError(thrown: unknown): unknown {
  try {
    if (!(thrown instanceof Error)) return thrown;
    const { message, code: _ } = thrown as Error & { readonly code?: unknown };
    return typeof message === 'string' ? thrown : new Error(UNREADABLE);
  } catch {
    return new Error(UNREADABLE);
  }
}

/** `instanceof` for a thrown value. False for a value that cannot be inspected (`toError`). */
export function isInstance<T>(
  thrown: unknown,
  type: abstract new (...args: any[]) => T,
): thrown is T {
  return toError(thrown) === thrown && thrown instanceof type;
}

/** The message of a thrown error. Undefined for another value, and if it cannot be read. */
export function errorMessage(thrown: unknown): string | undefined {
  try {
    const message: unknown = thrown instanceof Error ? thrown.message : undefined;
    return typeof message === 'string' ? message : undefined;
  } catch {
    return undefined;
  }
}

/** The message of a thrown error, or the text of another thrown value. */
export function thrownText(thrown: unknown): string {
  try {
    return errorMessage(thrown) ?? String(thrown);
  } catch {
    return UNREADABLE;
  }
}

const UNREADABLE = 'the thrown value cannot be read';
