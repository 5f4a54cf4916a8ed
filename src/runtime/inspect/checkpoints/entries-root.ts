import type { LogStore } from '#ledger';
import { Frontier, leafHash } from '#merkle';

const PAGE = 1_000;

/**
 * The root of the first entries of the log, computed from the entries and not from stored hashes.
 * Undefined if the log has fewer entries. Reads them all.
 */
export async function rootOfEntries(store: Pick<LogStore, 'logged'>, size: number): Promise<Uint8Array | undefined> {
  const frontier = new Frontier();
  while (frontier.size < size) {
    const rows = await store.logged(frontier.size, Math.min(PAGE, size - frontier.size));
    if (rows.length === 0) return undefined;
    frontier.append(rows.map(({ payload }) => leafHash(payload)));
  }
  return frontier.root();
}
