import { isAssizeError } from 'assize/internal/base';
import type { Store } from 'assize/internal/stores';

/**
 * Whether the facts of a store are incomplete.
 * @throws all other errors of the store
 */
export async function areIncomplete(store: Store): Promise<boolean> {
  try {
    await store.spaces();
    return false;
  } catch (error) {
    if (!isAssizeError(error, 'store_facts_incomplete')) throw error;
    return true;
  }
}

/** The same, to be printed with another error. An error of the store must not hide the other. */
export function areKnownIncomplete(store: Store): Promise<boolean> {
  return areIncomplete(store).catch(() => false);
}
