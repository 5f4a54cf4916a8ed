import type { EntryRow, LogStore } from '#ledger';

const PAGE = 1_000;
/** The most entries without a position of one read. */
const UNLOGGED_MAX = 64_000;

/**
 * All entries from a position on, in the order of the log: an entry comes after every entry that it
 * names. Entries without a position come last, in the order in which they will get one. For each
 * number of those, the store reads all before them again, so log the entries first
 * (`integrateLog`) where the store may be written.
 */
export async function* entriesInOrder(
  store: LogStore,
  from = 0,
): AsyncGenerator<readonly EntryRow[]> {
  for (let at = from, ahead = PAGE; ; ) {
    const size = await store.logSize();
    const rows =
      at < size
        ? await store.logged(at, Math.min(PAGE, size - at))
        : (await store.unlogged(at - size + ahead)).slice(at - size);
    // Another process may have logged entries between the reads.
    if (at >= size && (await store.logSize()) !== size) continue;
    if (rows.length === 0) return;
    yield rows;
    at += rows.length;
    if (at > size) ahead = Math.min(ahead * 2, UNLOGGED_MAX);
  }
}
