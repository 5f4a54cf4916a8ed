import type { LedgerStore } from '#ledger';
import { forgetWords } from '#memory';

/** What was erased is nowhere any more when this settles: as far as the store can say, and not in this thread. @throws as `LedgerStore.scrub` */
export async function scrubbed(store: LedgerStore): Promise<void> {
  await store.scrub?.();
  forgetWords();
}
