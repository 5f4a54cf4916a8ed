import { isInstance } from '#base';
import { EffectError } from '#effects';

/**
 * The error for a lost lease: another process resumes this process's unfinished effects, or may do
 * so. `cause`: the reason, if it is known here.
 */
export function leaseLost(cause: unknown): EffectError {
  if (isInstance(cause, EffectError) && cause.code === 'lease_lost') return cause;
  return new EffectError(
    'lease_lost',
    'Another process has adopted, or may adopt, the open tool transactions of this process, and finishes or compensates them. Try again.',
    { retryable: true, cause },
  );
}
