import type { LogStore } from '#ledger';
import { Frontier, leafHash } from '#merkle';

const PAGE = 1_000;

/**
 * The root of the first so many entries of the log as they stand there now, whatever hashes are kept with them; undefined
 * where there are not as many. Reads them all.
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
