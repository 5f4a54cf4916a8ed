import { isAssizeError } from '#canon';
import { type FactStore, isFactStore } from '../facts.ts';
import type { LedgerStore } from '../store.ts';

/**
 * Marks the facts of a store that has none as incomplete, before entries come that say what is believed: facts are made of them when all are
 * there, and who read before would find nothing, or say the same partition anew, which no store could ever make facts of again. A store that has
 * facts keeps them: they are to be had also where what comes can't be made into facts.
 */
export async function awaitFacts(store: LedgerStore): Promise<void> {
  if (!isFactStore(store) || !(await hasNone(store))) return;
  const reason = new Error('Facts come when all entries are there.');
  try {
    await store.rebuildFacts(interrupted(reason));
  } catch (error) {
    if (error !== reason) throw error;
  }
}

/** Not so where they are incomplete already. */
async function hasNone(store: FactStore): Promise<boolean> {
  try {
    return (await store.spaces()).length === 0 && (await store.branches()).length === 0;
  } catch (error) {
    if (isAssizeError(error, 'store_facts_incomplete')) return false;
    throw error;
  }
}

// biome-ignore lint/correctness/useYield: where a rebuilding is interrupted, facts stay incomplete, and this is one that begins and goes no further
async function* interrupted(reason: Error): AsyncGenerator<never> {
  throw reason;
}
