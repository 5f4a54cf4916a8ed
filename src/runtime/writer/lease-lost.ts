import { EffectError } from '#effects';

/**
 * The error for a lost lease: another process resumes this process's unfinished effects, or may do
 * so. `cause`: the reason, as far as it is known here.
 */
export function leaseLost(cause: unknown): EffectError {
  if (cause instanceof EffectError && cause.code === 'lease_lost') return cause;
  return new EffectError(
    'lease_lost',
    'Another process has taken over what tools are at work on here, or may have; what this one began is finished or undone by that. Try again.',
    { retryable: true, cause },
  );
}
