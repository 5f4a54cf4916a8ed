import type { RuntimeError } from '../errors.ts';

/**
 * Tells a listener of what nothing fails for; without one the process warns. Whoever is to hear of it may fail too, and nobody
 * else is left to be told: the process warns of that.
 */
export function tellFailure(listener: ((error: RuntimeError) => void) | undefined, error: RuntimeError): void {
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
