import { GenerationalMap } from 'assize/internal/base';
import type { LedgerStore, LogStore } from 'assize/internal/ledger';
import type { Facts } from './blocks.ts';
import { type EntryFacts, FactReader } from './entry-facts.ts';
import { type EntrySearch, type FoundEntry, findEntries } from './find-entries.ts';

/** The largest number of entries outside the log in one read. */
const UNLOGGED_MAX = 1_000_000;

/**
 * All entries that a search chooses, newest first, a page at a time. Writes nothing and needs no
 * key, so it reads every entry in the span: entries without a position in the log count as its end.
 */
export async function* walkEntries(
  store: LedgerStore & LogStore,
  { limit, ...search }: EntrySearch,
): AsyncGenerator<readonly FoundEntry[]> {
  const logged = await store.logSize();
  const late = await store.unlogged(UNLOGGED_MAX);
  const reader = new FactReader(store);
  const kept = new GenerationalMap<string, EntryFacts>(PAGE);
  const log = {
    size: logged + late.length,
    logged: async (from: number, count: number) => [
      ...(from < logged ? await store.logged(from, Math.min(count, logged - from)) : []),
      ...late.slice(Math.max(0, from - logged), Math.max(0, from + count - logged)),
    ],
  };
  const blocks: Facts = {
    head: async () => undefined,
    stored: async () => undefined,
    read: (rows) => reader.readAll(rows, kept),
  };
  for (
    let left = limit, before: number | undefined = log.size;
    left > 0 && before !== undefined;
  ) {
    const page = { ...search, before, limit: Math.min(left, PAGE) };
    const { entries, next } = await findEntries(log, blocks, page);
    if (entries.length > 0) yield entries;
    left -= entries.length;
    before = next;
  }
}

const PAGE = 500;
