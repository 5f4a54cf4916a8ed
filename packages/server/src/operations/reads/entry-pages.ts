import type { EntryRow, LedgerStore } from 'assize/internal/ledger';
import { type Summary, type SummaryContext, summaryOf } from 'assize/internal/views';
import { mayMatch, textsOf } from '../../activity/entry-text.ts';

/** A search reads at most this many entries a request. The rest is the next page. */
const READ_MAX = 20_000;
const READ_AT_ONCE = 250;

/** The entries of a trajectory that a reader asks for. */
export interface EntryQuery {
  readonly from: number;
  /** The seq after the last entry. With it, the newest entries come first. */
  readonly before?: number | undefined;
  readonly limit: number;
  readonly ruling?: Summary['ruling'] | undefined;
  /** A part of the summary, in any case. */
  readonly text?: string | undefined;
  /** The actions of the domain, whose words the summaries have. */
  readonly actions?: SummaryContext['actions'];
}

export interface EntryPage {
  readonly entries: readonly Summary[];
  /** The `from` of the next page, or its `before`. Undefined on the last page. */
  readonly next: number | undefined;
}

/**
 * One page of summaries. With a ruling or a text, a page may have fewer entries than the limit, or
 * none, although another page follows.
 */
export async function entryPage(
  store: LedgerStore,
  head: EntryRow,
  query: EntryQuery,
): Promise<EntryPage> {
  const { before, limit } = query;
  const isSearch = query.ruling !== undefined || query.text !== undefined;
  const matches = matcherOf(query);
  const isWorthReading = mayMatch(query.ruling, query.text?.toLowerCase());
  const entries: Summary[] = [];
  let low = query.from;
  let high = Math.min(before ?? head.seq + 1, head.seq + 1);
  const next = () => (low < high ? (before === undefined ? low : high) : undefined);
  let left = isSearch ? READ_MAX : limit;
  while (low < high && left > 0) {
    const size = Math.min(isSearch ? READ_AT_ONCE : limit, left, high - low);
    const start = before === undefined ? low : high - size;
    const rows = await store.entries(head.trajectory_id, { from: start, limit: size });
    for (const row of before === undefined ? rows : rows.toReversed()) {
      if (before === undefined) low = row.seq + 1;
      else high = row.seq;
      if (!isWorthReading(row)) continue;
      const summary = summaryOf(row, query);
      if (matches(summary)) entries.push(summary);
      if (entries.length === limit) return { entries, next: next() };
    }
    if (before === undefined) low = start + size;
    else high = start;
    left -= size;
  }
  return { entries, next: next() };
}

function matcherOf({ ruling, text }: EntryQuery): (summary: Summary) => boolean {
  const wanted = text?.toLowerCase();
  return (summary) =>
    (ruling === undefined || summary.ruling === ruling) &&
    (wanted === undefined || textsOf(summary).some((one) => one.toLowerCase().includes(wanted)));
}
