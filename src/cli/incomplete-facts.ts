import { isAssizeError, type Store } from 'assize';

/** Whether the facts of a store are incomplete: for what is said beside an error, so nothing that it throws counts. */
export async function areIncomplete(store: Store): Promise<boolean> {
  try {
    await store.spaces();
    return false;
  } catch (error) {
    return isAssizeError(error, 'store_facts_incomplete');
  }
}
