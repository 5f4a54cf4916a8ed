import { CanonError } from '#canon';

/** The error of a call that must throw a CanonError. */
export function thrownBy(call: () => unknown): CanonError {
  try {
    call();
  } catch (error) {
    if (error instanceof CanonError) return error;
    throw error;
  }
  throw new Error('it did not throw');
}
