const NOBODY = 65_534;

/**
 * Calls as somebody whom permission bits stop, which they do not do to root. The uid is another one only until the call
 * has ended, and of all that runs in this process meanwhile.
 */
export async function asUnprivilegedUser<T>(call: () => Promise<T>): Promise<T> {
  if (process.geteuid!() !== 0) return call();
  process.seteuid!(NOBODY);
  try {
    return await call();
  } finally {
    process.seteuid!(0);
  }
}
