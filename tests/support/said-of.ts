import { isAssizeError } from '#base';

/** The code and the message of the error that a call throws. */
export function saidOf(call: () => unknown): string {
  try {
    call();
  } catch (error) {
    if (isAssizeError(error)) return `${error.code}: ${error.message}`;
    throw error;
  }
  return 'nothing was thrown';
}
