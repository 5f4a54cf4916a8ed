import { isAssizeError } from 'assize/internal/base';
import type { Assize, OpenPending } from 'assize/internal/runtime';

/**
 * The proposals of every trajectory that wait for a decision. A trajectory that does not verify is
 * reported, and hides no proposal of another one.
 */
export function openProposalsIn(
  assize: Assize,
  onFailure: (error: unknown) => void,
): () => AsyncGenerator<OpenPending, void, undefined> {
  return async function* () {
    for (const trajectoryId of await assize.namesToReview()) {
      try {
        yield* assize.pending({ trajectoryId });
      } catch (error) {
        if (!isAssizeError(error, 'invalid_ledger')) throw error;
        onFailure(error);
      }
    }
  };
}
