import { isAssizeError } from '#base';
import type { Hash, LedgerReader } from '#ledger';
import { RuntimeError } from '../errors.ts';

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
  { says, cause, evidence }: { readonly says: string; readonly cause: unknown; readonly evidence?: object },
): Promise<void> {
  let why = cause;
  try {
    if ((await store.resolve(id)) !== undefined) return;
  } catch (error) {
    // Also errors that no store of this package throws: the caller must not conclude that nothing
    // was written.
    if (!isAssizeError(error)) why = new AggregateError([cause, error], 'the append and the lookup failed');
  }
  throw new RuntimeError('commit_unknown', says, { evidence: { id, ...evidence }, cause: why, retryable: true });
}
