/** What is waited for, or an error when that takes too long: what a page is asked for has no end where its script has none. */
export async function within<T>(ms: number, made: Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`the page did not answer within ${ms} ms`)), ms);
  try {
    return await Promise.race([made, late]);
  } finally {
    clearTimeout(timer);
  }
}
