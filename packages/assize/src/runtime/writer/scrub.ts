import type { LedgerStore } from '#ledger';
import { forgetWords } from '#memory';

/**
 * Resolves when the store has removed the erased bytes, as far as the store can tell. Runs in a
 * worker thread. @throws the errors of `LedgerStore.scrub`
 */
export async function scrub(store: LedgerStore): Promise<void> {
  await store.scrub?.();
  forgetWords();
}
