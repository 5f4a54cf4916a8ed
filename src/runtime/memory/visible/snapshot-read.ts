import type { FactReads, FactStore } from '#ledger';

/** Runs the queries of `read` in one snapshot read, if the store supports it. */
export function atOneMoment<T>(
  store: FactStore,
  read: (facts: FactReads) => Promise<T>,
  options: { readonly byText?: boolean } = {},
): Promise<T> {
  return store.atOneMoment === undefined ? read(store) : store.atOneMoment(read, options);
}
