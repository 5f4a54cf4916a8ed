/**
 * Whether a function that must be synchronous returned a promise, or another object with a `then`
 * that is a function or cannot be read. A later rejection of the promise then has a handler:
 * without one it would end the process.
 */
export function isUnwantedPromise(returned: unknown): boolean {
  if ((typeof returned !== 'object' && typeof returned !== 'function') || returned === null)
    return false;
  try {
    if (typeof (returned as { readonly then?: unknown }).then !== 'function') return false;
    // The method of the language: it refuses other objects, and no object can replace it.
    Promise.prototype.then.call(returned, undefined, () => undefined);
  } catch {
    return true;
  }
  return true;
}

/**
 * The result of the work. An abort rejects immediately, because the work may never end.
 *
 * @throws the signal's reason; the errors of the work
 */
export async function unlessAborted<T>(
  work: PromiseLike<T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  if (signal === undefined) return work;
  const { promise, reject } = Promise.withResolvers<never>();
  const stop = (): void => reject(signal.reason);
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  try {
    return await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
