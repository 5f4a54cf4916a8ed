import { isAssizeError, isInstance } from '#base';
import { EffectError } from '#effects';
import type { EffectStore, Hash, LedgerReader } from '#ledger';
import { RuntimeError } from '../errors.ts';

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

/** The error for a store that wrote nothing. */
export function storeRefusal(
  result: Exclude<Awaited<ReturnType<EffectStore['logEffects']>>, { status: 'written' }>,
): EffectError {
  if (result.status === 'fenced')
    return leaseLost(
      new Error(
        'the store refused a write of this process, because another process has adopted its work',
      ),
    );
  const { key, epoch, n } = result;
  return new EffectError(
    'key_collision',
    `The key ${key} already belongs to call ${n} of transaction ${epoch}. Use a new transaction name.`,
    {
      evidence: { key, epoch, n },
    },
  );
}

/**
 * Handles a commit for which the store answered `unknown`. Returns if its entry exists; the rest of
 * the batch then exists too.
 *
 * @throws RuntimeError `commit_unknown`, with the text `says`, if the entry does not exist or its
 * existence is unknown too
 */
export async function resolveUnknownCommit(
  store: Pick<LedgerReader, 'resolve'>,
  id: Hash,
  {
    says,
    cause,
    evidence,
  }: { readonly says: string; readonly cause: unknown; readonly evidence?: object },
): Promise<void> {
  let why = cause;
  try {
    if ((await store.resolve(id)) !== undefined) return;
  } catch (error) {
    // Also errors that no store of this package throws: the caller must not conclude that nothing
    // was written.
    if (!isAssizeError(error))
      why = new AggregateError([cause, error], 'the append and the lookup failed');
  }
  throw new RuntimeError('commit_unknown', says, {
    evidence: { id, ...evidence },
    cause: why,
    retryable: true,
  });
}
