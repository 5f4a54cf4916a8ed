import { isAssizeError, isInstance, toError } from '#base';
import { EffectError } from '#effects';
import { isCauseCode } from '#ledger';
import { RuntimeError } from '../../errors.ts';

/**
 * The error for a transaction that has not started: the reason of the stop signal, or `deadline`
 * after a timeout.
 */
export function notStartedError(reason: unknown): Error {
  const cause = toError(reason);
  return isTimeout(cause) ? stoppedError(cause) : (cause as Error);
}

/** The error for a transaction that waited for the effects of the store until its deadline. */
export function notHeldError(reason: unknown): Error {
  const cause = toError(reason);
  if (!isTimeout(cause)) return cause as Error;
  return new EffectError(
    'deadline',
    'Another runtime runs the effects of this store and did not release them in time, so the transaction did not start. Nothing was done. End the transactions of that runtime or close it, and repeat this one.',
    { cause },
  );
}

export function stoppedError(reason: unknown): Error {
  const cause = toError(reason);
  if (isAssizeError(cause, 'closed')) return cause;
  return new EffectError(
    'deadline',
    `The transaction was stopped or exceeded its time limit${isTimeout(cause) ? ` (${cause.message})` : ''}. Its effects are compensated.`,
    { cause },
  );
}

function isTimeout(cause: unknown): cause is DOMException {
  return isInstance(cause, DOMException) && cause.name === 'TimeoutError';
}

/** The abort reason of an attempt, as a name. No text of a body's error is stored. */
export function causeOf(error: unknown): string {
  return isAssizeError(error) && isCauseCode(error.reason) ? error.reason : 'body_failed';
}

/**
 * Whether the error leaves the outcome to the log: the attempt may be committed, or adopted by
 * another process. Compensation could then revert committed effects.
 */
export function isDecidedByLog(error: unknown): boolean {
  return (
    (isInstance(error, RuntimeError) && error.code === 'commit_unknown') ||
    (isInstance(error, EffectError) && error.code === 'lease_lost')
  );
}

/**
 * Whether an earlier attempt of the name has used the key of a buffered call, so that the attempt
 * must be read.
 */
export function isCollision(error: unknown): boolean {
  return isInstance(error, EffectError) && error.code === 'key_collision';
}

export function isRetryable(error: unknown): error is EffectError {
  return (
    isInstance(error, EffectError) &&
    error.retryable &&
    (error.code === 'stale' || error.code === 'tool_failed')
  );
}
