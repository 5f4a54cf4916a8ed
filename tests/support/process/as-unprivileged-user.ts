const NOBODY = 65_534;

/**
 * Calls as a user that permission bits stop, because they do not stop root. The uid is changed only
 * until the call has ended, for everything that runs in this process in the meantime.
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
