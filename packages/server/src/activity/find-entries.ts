import { type EntryRow, integrateLog, type LogStore } from 'assize/internal/ledger';
import { summaryOf } from 'assize/internal/views';
import { BLOCK, type Facts, type Head } from './blocks.ts';
import type { EntryFacts } from './entry-facts.ts';
import { mayMatch, textsOf } from './entry-text.ts';

/** The entries of all trajectories that a reader asks for. */
export interface EntrySearch {
  /** The first time, and the time after the last one. */
  readonly since?: string | undefined;
  readonly until?: string | undefined;
  /** Names that an entry has, all of them: see `named`. */
  readonly names: readonly string[];
  /** A part of the summary, in any case. */
  readonly text?: string | undefined;
  /** Another condition, for which the entry is read. */
  readonly isMeant?: ((row: EntryRow) => Promise<boolean>) | undefined;
  readonly limit: number;
  /** The position in the log after the first entry to look at. Default: the end. */
  readonly before?: number | undefined;
}

export interface FoundEntry {
  readonly row: EntryRow;
  readonly facts: EntryFacts;
}

/** A found entry by its position in the log. The row is there if the search read it. */
export interface FoundFacts {
  readonly position: number;
  readonly row: EntryRow | undefined;
  readonly facts: EntryFacts;
}

export interface Found<Entry> {
  /** The newest first. */
  readonly entries: readonly Entry[];
  /** The `before` of the next page. Undefined on the last page. */
  readonly next: number | undefined;
}

/** The entries of a log by their positions, as many as it has now. */
export interface LoggedEntries extends Pick<LogStore, 'logged'> {
  readonly size: number;
}

/** The log of a store with all its entries. */
export async function wholeLog(store: LogStore): Promise<LoggedEntries> {
  return { size: await integrateLog(store), logged: store.logged.bind(store) };
}

/** The most entries that a search reads, and the most blocks that it opens. */
const READ_MAX = 20_000;
const BLOCKS_MAX = 200;

/**
 * One page of entries, from the end of the log towards its beginning. A search for a rare name or a
 * text may end with fewer entries than its limit, or none, although another page follows.
 */
export async function findEntries(
  log: LoggedEntries,
  blocks: Facts,
  search: EntrySearch,
): Promise<Found<FoundEntry>> {
  const { entries, next } = await findFacts(log, blocks, search);
  return { entries: await Promise.all(entries.map((one) => readFound(log, one))), next };
}

/** The same page, without a read of the entries that stored facts name. */
export async function findFacts(
  log: LoggedEntries,
  blocks: Facts,
  search: EntrySearch,
): Promise<Found<FoundFacts>> {
  const { limit, text, isMeant } = search;
  const { size } = log;
  const isMatch = matcherOf(search);
  const hasText = textMatcher(text);
  const found: FoundFacts[] = [];
  let high = Math.min(search.before ?? size, size);
  for (let read = 0, opened = 0; high > 0 && read < READ_MAX && opened < BLOCKS_MAX; ) {
    const block = Math.floor((high - 1) / BLOCK);
    const first = block * BLOCK;
    const head = await blocks.head(block);
    if (head !== undefined && !mayHave(head, search)) {
      high = first;
      continue;
    }
    opened++;
    let facts = head && (await blocks.stored(block));
    let rows: readonly EntryRow[] | undefined;
    if (facts === undefined || text !== undefined || isMeant !== undefined) {
      rows = await log.logged(first, high - first);
      read += rows.length;
    }
    facts ??= await blocks.read(rows as readonly EntryRow[]);
    while (high > first) {
      const place = --high - first;
      const one = facts[place];
      const row = rows?.[place];
      if (one === undefined || !isMatch(one) || (row !== undefined && !hasText(row))) continue;
      if (row !== undefined && isMeant !== undefined && !(await isMeant(row))) continue;
      found.push({ position: high, row, facts: one });
      if (found.length === limit) return { entries: found, next: nextOf(high) };
    }
  }
  return { entries: found, next: nextOf(high) };
}

function nextOf(high: number): number | undefined {
  return high === 0 ? undefined : high;
}

export async function readFound(
  log: LoggedEntries,
  { position, row, facts }: FoundFacts,
): Promise<FoundEntry> {
  return { row: row ?? ((await log.logged(position, 1))[0] as EntryRow), facts };
}

function mayHave({ from, to, names: all }: Head, { since, until, names }: EntrySearch): boolean {
  if ((since !== undefined && to < since) || (until !== undefined && from >= until)) return false;
  return all === undefined || names.every((name) => all.includes(name));
}

function matcherOf({ since, until, names }: EntrySearch): (facts: EntryFacts) => boolean {
  return ({ at, names: all }) =>
    (since === undefined || at >= since) &&
    (until === undefined || at < until) &&
    names.every((name) => all.includes(name));
}

function textMatcher(text: string | undefined): (row: EntryRow) => boolean {
  if (text === undefined) return () => true;
  const wanted = text.toLowerCase();
  const isWorthReading = mayMatch(undefined, wanted);
  return (row) =>
    isWorthReading(row) &&
    textsOf(summaryOf(row)).some((one) => one.toLowerCase().includes(wanted));
}
