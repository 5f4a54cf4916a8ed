import type { FactReads, FactStore } from '#ledger';

/** Runs the queries of `read` in one snapshot read, if the store supports it. */
export function withReadSnapshot<T>(
  store: FactStore,
  read: (facts: FactReads) => Promise<T>,
  options: { readonly byText?: boolean } = {},
): Promise<T> {
  return store.withReadSnapshot === undefined ? read(store) : store.withReadSnapshot(read, options);
}
