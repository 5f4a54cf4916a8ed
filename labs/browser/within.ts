/**
 * Resolves with the awaited value, or rejects after the time limit: a query never ends if a script
 * of the page never ends.
 */
export async function within<T>(ms: number, made: Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`the page did not answer within ${ms} ms`)), ms);
  try {
    return await Promise.race([made, late]);
  } finally {
    clearTimeout(timer);
  }
}
