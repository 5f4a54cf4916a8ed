import { isInstance, thrownText } from '#base';
import type { RuntimeError } from '../errors.ts';

/**
 * Notifies a listener of an error that fails nothing else; without a listener the process warns. If
 * the listener itself throws or rejects, the process warns of that error.
 */
export function reportFailure(
  listener: ((error: RuntimeError) => void) | undefined,
  error: RuntimeError,
): void {
  if (listener === undefined) {
    process.emitWarning(error);
    return;
  }
  void (async () => listener(error))().catch((another: unknown) =>
    process.emitWarning(isInstance(another, Error) ? another : thrownText(another)),
  );
}
