import { isInstance } from '#base';
import { CanonError, type CanonLimits, DEFAULT_LIMITS } from '#canon';

/**
 * Makes a value that must fit into one entry. A caller cannot raise the limit of canonical texts,
 * so the error says what to do instead. `what` would have more bytes.
 *
 * @throws CanonError `too_large`; the errors of `make`
 */
export function withinEntrySize<T>(
  what: string,
  { bytesMax = DEFAULT_LIMITS.bytesMax }: Partial<CanonLimits>,
  make: () => T,
): T {
  try {
    return make();
  } catch (error) {
    if (!isInstance(error, CanonError) || error.code !== 'too_large') throw error;
    const message = `${what} would exceed ${bytesMax} bytes as JSON. Propose less at a time.`;
    throw new CanonError('too_large', error.pointer, message, { cause: error });
  }
}
