import { isAssizeError } from '#base';
import type { Store } from '#stores';

/** Whether the facts of a store are incomplete. @throws what else the store throws */
export async function areIncomplete(store: Store): Promise<boolean> {
  try {
    await store.spaces();
    return false;
  } catch (error) {
    if (!isAssizeError(error, 'store_facts_incomplete')) throw error;
    return true;
  }
}

/** The same, to be said beside another error, which is not to be lost by one of the store. */
export function areKnownIncomplete(store: Store): Promise<boolean> {
  return areIncomplete(store).catch(() => false);
}
