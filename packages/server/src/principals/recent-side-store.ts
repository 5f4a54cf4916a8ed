import type { SideStore } from 'assize/internal/ledger';
import { RecentReads } from '../recent-reads.ts';

/** A row that another process wrote counts after this time at the latest. */
export const ROW_FRESH_MS = 1_000;

/**
 * The same side log, where a read of one row may be the row of up to `ROW_FRESH_MS` ago. A write of
 * this process counts from the next read on.
 */
export function recentSideStore(store: SideStore): SideStore {
  const rows = new RecentReads(async (place: string) => {
    const [kind, key] = JSON.parse(place) as [string, string];
    return store.sideGet(kind, key);
  }, ROW_FRESH_MS);
  return {
    sideGet: (kind, key) => rows.get(placeOf(kind, key)),
    sideList: (kind, page) => store.sideList(kind, page),
    sidePut: async (changes) => {
      try {
        return await store.sidePut(changes);
      } finally {
        // A put that rejects or resolves to false shows that a row may have changed.
        for (const { kind, key } of changes) rows.forget(placeOf(kind, key));
      }
    },
  };
}

function placeOf(kind: string, key: string): string {
  return JSON.stringify([kind, key]);
}
