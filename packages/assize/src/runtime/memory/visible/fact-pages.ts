import type { FactQuery, FactReads, FactVersion } from '#ledger';

/**
 * Rows of the first page and, for several partitions, of later pages. Most first pages are not
 * full.
 */
const FIRST = 1_000;
const LARGE = 8_000;
/** For one partition each page is twice as large as the one before, up to this number of rows. */
const LARGEST = 64_000;

/** Maximum characters of a page, assuming its rows are as long as those of the page before. */
const CHARACTERS = 4_000_000;

export interface FactPagesOptions {
  /** Called before each page is read. */
  readonly onAsk?: () => void;
  /** Maximum number of rows. They are read in one query, and so as of one moment. */
  readonly most?: number | undefined;
}

/**
 * The matching facts, in the order of a store. For each page a store reads all rows of a key,
 * because its own order differs. So a long history is read in large pages, and a longer one in
 * larger pages.
 *
 * With a system time, the rows of each partition are as of one moment: a partition that continues
 * after a page is read again as a whole. Otherwise a change between two pages would return both the
 * old and the new fact.
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
    // The rows that were not in the partition that was read as a whole.
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
      const together = await readTogether(
        store,
        { ...query, subject, predicate },
        2 * limit,
        onAsk,
      );
      if (together.length > 0) yield together;
      whole = last;
      after = together.at(-1) ?? last;
    }
    const perRow = 1 + page.reduce((sum, { object }) => sum + object.length, 0) / page.length;
    limit = Math.min(largest, Math.max(FIRST, Math.floor(CHARACTERS / perRow)));
    largest = isOfOne(page[0]!, page.at(-1)!) ? Math.min(LARGEST, 2 * largest) : LARGE;
  }
}

/** All matching rows of one partition, in one query; `limit`: the first guess of their number. */
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
