import type { LedgerStore } from '#ledger';
import { forgetWords } from '#memory';

/**
 * Resolves when the store finds no erased bytes left. Runs in a worker thread. @throws the errors
 * of `LedgerStore.scrub`
 */
export async function scrub(store: LedgerStore): Promise<void> {
  await store.scrub?.();
  forgetWords();
}
