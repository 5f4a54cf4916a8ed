import type { FactReads, FactStore } from '#ledger';

/** What `read` finds by several questions, of one moment where the store can do that. */
export function atOneMoment<T>(
  store: FactStore,
  read: (facts: FactReads) => Promise<T>,
  options: { readonly byText?: boolean } = {},
): Promise<T> {
  return store.atOneMoment === undefined ? read(store) : store.atOneMoment(read, options);
}
