import type { Hash, LedgerStore, LogStore } from '#ledger';
import { VisibilityChains } from '../memory/visible/visibility.ts';
import { entriesInOrder } from './entries-in-order.ts';
import type { Write } from './entry-links.ts';
import { type AffectedEntry, LineageWalk, type WalkOptions } from './lineage-walk.ts';
import { LinkReader } from './link-reader.ts';

/** The entries that an incident affects. */
export interface Lineage {
  /** In the order of the log. */
  readonly affected: readonly AffectedEntry[];
  /** The decisions and outcomes of an affected entry, also where they are not affected. */
  readonly followUpsOf: (id: Hash) => ReadonlySet<Hash>;
  readonly isAffected: (write: Write) => boolean;
  /** Number of entries in the store. */
  readonly entries: number;
  /** Erased values in the entries that were read, through which derivations may be missing. */
  readonly erased: number;
}

export interface LineageOptions extends WalkOptions {
  /** Called now and then, with the number of entries read. */
  readonly onProgress?: (entries: number) => void;
}

/** Reads every entry of the store. @throws LedgerFault for a missing blob */
export async function walkLineage(
  store: LedgerStore & LogStore,
  options: LineageOptions,
): Promise<Lineage> {
  const reader = new LinkReader(store);
  const walk = new LineageWalk(new VisibilityChains(store), options);
  let entries = 0;
  for await (const rows of entriesInOrder(store)) {
    for (const row of rows) await walk.visit(await reader.read(row));
    entries += rows.length;
    options.onProgress?.(entries);
  }
  return {
    affected: walk.affected,
    followUpsOf: (id) => walk.followUpsOf(id),
    isAffected: (write) => walk.isAffected(write),
    ...{ entries, erased: walk.erased },
  };
}
