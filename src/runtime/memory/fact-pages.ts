import type { FactQuery, FactStore, FactVersion } from '#ledger';

/** Rows of the first page, of which most are not full; and of the largest. */
const FIRST = 1_000;
const LARGEST = 8_000;

/** Characters of what a page says, where its rows are as long as those of the one before. */
const CHARACTERS = 4_000_000;

/**
 * The facts that are asked for, in the order of a store. For each page it looks at all that there is of a key, since that stands in another
 * order there; so a long history is read by large pages. `onAsk` is called before each page is read.
 *
 * @throws StoreError
 */
export async function* factPages(
  store: FactStore,
  query: Omit<FactQuery, 'limit'>,
  onAsk: () => void = () => undefined,
): AsyncGenerator<FactVersion[]> {
  let { after } = query;
  for (let limit = FIRST; ; ) {
    onAsk();
    const page = await store.facts({ ...query, ...(after && { after }), limit });
    if (page.length > 0) yield page;
    if (page.length < limit) return;
    after = page.at(-1);
    const perRow = 1 + page.reduce((sum, { object }) => sum + object.length, 0) / page.length;
    limit = Math.min(LARGEST, Math.max(FIRST, Math.floor(CHARACTERS / perRow)));
  }
}
