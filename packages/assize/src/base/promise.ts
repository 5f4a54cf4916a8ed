/**
 * Whether a function that must be synchronous returned a promise, or another object with a `then`
 * that is a function or cannot be read. A later rejection of the promise then has a handler:
 * without one it would end the process.
 */
export function isUnwantedPromise(returned: unknown): boolean {
  if ((typeof returned !== 'object' && typeof returned !== 'function') || returned === null) return false;
  try {
    if (typeof (returned as { readonly then?: unknown }).then !== 'function') return false;
    // The method of the language: it refuses other objects, and no object can replace it.
    Promise.prototype.then.call(returned, undefined, () => undefined);
  } catch {
    return true;
  }
  return true;
}
