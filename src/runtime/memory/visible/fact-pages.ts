import type { FactQuery, FactReads, FactVersion } from '#ledger';

/** Rows of the first page, of which most are not full; and of those after it. */
const FIRST = 1_000;
const LARGE = 8_000;
/** Of one partition alone each page is twice as large as the one before, up to so many rows. */
const LARGEST = 64_000;

/** Characters of what a page says, where its rows are as long as those of the one before. */
const CHARACTERS = 4_000_000;

export interface FactPagesOptions {
  /** Called before each page is read. */
  readonly onAsk?: () => void;
  /** No more rows are wanted: they are read at once, and so are as they were at one moment. */
  readonly most?: number | undefined;
}

/**
 * The facts that are asked for, in the order of a store. For each page it looks at all that there is of a key, since that stands in another
 * order there; so a long history is read by large pages, and a longer one by larger ones.
 *
 * Where a time of the system is asked for, the rows of each partition are as they were at one moment: those of one that goes on after a page
 * are read once more, and together. Else of a change in between what was believed before it would be there, and what is since then, too.
 *
 * @throws StoreError
 */
export async function* factPages(
  store: FactReads,
  query: Omit<FactQuery, 'limit'>,
  { onAsk = () => undefined, most }: FactPagesOptions = {},
): AsyncGenerator<FactVersion[]> {
  let { after } = query;
  let whole: FactVersion | undefined;
  let largest = LARGE;
  for (let limit = most ?? FIRST; ; ) {
    onAsk();
    const page = await store.facts({ ...query, ...(after && { after }), limit });
    // What has come to be since then of what was read together.
    const rows = page.filter((row) => whole === undefined || !isOfOne(row, whole));
    const last = rows.at(-1);
    const isRest = page.length < limit || page.length === most;
    if (isRest || last === undefined || query.system === undefined) {
      if (rows.length > 0) yield rows;
      if (isRest) return;
      after = page.at(-1);
    } else {
      const before = rows.filter((row) => !isOfOne(row, last));
      if (before.length > 0) yield before;
      const { subject, predicate } = last;
      const together = await readTogether(store, { ...query, subject, predicate }, 2 * limit, onAsk);
      if (together.length > 0) yield together;
      whole = last;
      after = together.at(-1) ?? last;
    }
    const perRow = 1 + page.reduce((sum, { object }) => sum + object.length, 0) / page.length;
    limit = Math.min(largest, Math.max(FIRST, Math.floor(CHARACTERS / perRow)));
    largest = isOfOne(page[0]!, page.at(-1)!) ? Math.min(LARGEST, 2 * largest) : LARGE;
  }
}

/** All rows of one partition that are asked for, by one question: `limit` is how many they may be at first. */
async function readTogether(
  store: FactReads,
  { after: _, ...query }: Omit<FactQuery, 'limit'>,
  limit: number,
  onAsk: () => void,
): Promise<FactVersion[]> {
  for (let most = limit; ; most *= 4) {
    onAsk();
    const rows = await store.facts({ ...query, limit: most });
    if (rows.length < most) return rows;
  }
}

function isOfOne(a: FactVersion, b: FactVersion): boolean {
  return a.subject === b.subject && a.predicate === b.predicate;
}
