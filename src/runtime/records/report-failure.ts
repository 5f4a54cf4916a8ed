import type { RuntimeError } from '../errors.ts';

/**
 * Notifies a listener of an error that fails nothing else; without a listener the process warns. If
 * the listener itself throws, the process warns of that error.
 */
export function reportFailure(listener: ((error: RuntimeError) => void) | undefined, error: RuntimeError): void {
  if (listener === undefined) {
    process.emitWarning(error);
    return;
  }
  try {
    listener(error);
  } catch (another) {
    process.emitWarning(another as Error);
  }
}
