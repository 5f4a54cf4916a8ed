import { CanonError } from './canon-error.ts';

/** The error of a call that must throw one of this folder's errors. */
export function thrownBy(call: () => unknown): CanonError {
  try {
    call();
  } catch (error) {
    if (error instanceof CanonError) return error;
    throw error;
  }
  throw new Error('it did not throw');
}
