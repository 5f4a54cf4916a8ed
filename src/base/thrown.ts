/**
 * What was thrown, or an error in its place where it can't be looked at: anything may be thrown, also a Proxy that was revoked, and to
 * whoever has to undo because of it, a second error on looking would leave all undone. What this gives may be asked whether it is an
 * error, and of an error the code is there to be read, and the message is a text.
 */
export function thrownOf(thrown: unknown): unknown {
  try {
    if (!(thrown instanceof Error)) return thrown;
    const { message, code: _ } = thrown as Error & { readonly code?: unknown };
    return typeof message === 'string' ? thrown : withoutText();
  } catch {
    return withoutText();
  }
}

function withoutText(): Error {
  return new Error('what was thrown can’t be looked at');
}
