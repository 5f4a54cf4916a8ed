import { isAssizeError } from '#base';
import type { Hash, LedgerReader } from '#ledger';
import { RuntimeError } from '../errors.ts';

/**
 * For a commit that the store has answered `unknown`: returns where its entry is there. What else was in the batch is there with it.
 *
 * @throws RuntimeError `commit_unknown`, with what it `says`, where it is not, or that can't be told either
 */
export async function writtenAfterAll(
  store: Pick<LedgerReader, 'resolve'>,
  id: Hash,
  { says, cause, evidence }: { readonly says: string; readonly cause: unknown; readonly evidence?: object },
): Promise<void> {
  let why = cause;
  try {
    if ((await store.resolve(id)) !== undefined) return;
  } catch (error) {
    // Also what no store of ours throws: the caller must not take it for "nothing was written".
    if (!isAssizeError(error)) why = new AggregateError([cause, error], 'the append, and looking it up');
  }
  throw new RuntimeError('commit_unknown', says, { evidence: { id, ...evidence }, cause: why, retryable: true });
}
