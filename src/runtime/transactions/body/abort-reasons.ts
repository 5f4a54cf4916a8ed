import { isAssizeError, thrownOf } from '#base';
import { EffectError } from '#effects';
import { isCauseCode } from '#ledger';
import { RuntimeError } from '../../errors.ts';

/** Why it has not begun: who has told it to stop knows why. */
export function notBegun(reason: unknown): Error {
  const cause = thrownOf(reason);
  return isTimeout(cause) ? stopped(cause) : (cause as Error);
}

export function stopped(reason: unknown): Error {
  const cause = thrownOf(reason);
  if (isAssizeError(cause, 'closed')) return cause;
  return new EffectError(
    'deadline',
    `The transaction was told to stop, or took longer than it may${isTimeout(cause) ? ` (${cause.message})` : ''}; what it did is undone.`,
    { cause },
  );
}

function isTimeout(cause: unknown): cause is DOMException {
  return cause instanceof DOMException && cause.name === 'TimeoutError';
}

/** Why an attempt came to nothing, as a code: whatever a body throws, no text of it is kept. */
export function causeOf(error: unknown): string {
  return isAssizeError(error) && isCauseCode(error.code) ? error.code : 'body_failed';
}

/** What was thrown where it may be committed, or is somebody else's by now: to undo it could be to undo what stands. */
export function isForTheLogToSay(error: unknown): boolean {
  return (
    (error instanceof RuntimeError && error.code === 'commit_unknown') ||
    (error instanceof EffectError && error.code === 'tenure_lost')
  );
}

/** What is held was made under that name before: it has to be seen what became of it. */
export function isCollision(error: unknown): boolean {
  return error instanceof EffectError && error.code === 'key_collision';
}

export function isWorthAnother(error: unknown): error is EffectError {
  return error instanceof EffectError && error.retryable && (error.code === 'stale' || error.code === 'tool_failed');
}
