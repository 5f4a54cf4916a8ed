import { CanonError, type CanonLimits, DEFAULT_LIMITS } from '#canon';

/**
 * Whoever proposes can't raise what canon allows, and is told what can be done instead. `what` would have more bytes.
 *
 * @throws CanonError `too_large`; what `make` throws
 */
export function inOnePiece<T>(
  what: string,
  { bytesMax = DEFAULT_LIMITS.bytesMax }: Partial<CanonLimits>,
  make: () => T,
): T {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof CanonError) || error.code !== 'too_large') throw error;
    const message = `${what} would have more than ${bytesMax} bytes as JSON, and may not have more; propose less at a time.`;
    throw new CanonError('too_large', error.pointer, message, { cause: error });
  }
}
