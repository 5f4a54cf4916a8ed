import { isAssizeError } from '#base';
import type { LedgerStore } from '#ledger';
import type { Assize, OpenPending } from '#runtime';

/**
 * The proposals of every trajectory that wait for a decision. A trajectory that does not verify is
 * reported, and hides no proposal of another one.
 */
export function openProposalsIn(
  assize: Pick<Assize, 'pending'>,
  store: Pick<LedgerStore, 'trajectories' | 'trajectoriesToReview'>,
  onFailure: (error: unknown) => void,
): () => AsyncGenerator<OpenPending, void, undefined> {
  return async function* () {
    const names =
      (await store.trajectoriesToReview?.()) ?? (await store.trajectories()).map(({ trajectory_id }) => trajectory_id);
    for (const trajectoryId of names) {
      try {
        yield* assize.pending({ trajectoryId });
      } catch (error) {
        if (!isAssizeError(error, 'invalid_ledger')) throw error;
        onFailure(error);
      }
    }
  };
}
