import type { SideStore } from 'assize/internal/ledger';
import { FAILED_KIND, pagesOf, waitingKind } from './delivery-rows.ts';

/** Rows of one read, and the most rows of one receiver, or of all failures, that are counted. */
const PAGE = 1_000;
const COUNTED_MAX = 10_000;

/** Notices of a store at one moment. */
export interface Tally {
  /** Those that wait, of the given receivers. At most 10,000 a receiver are counted. */
  readonly waiting: number;
  /** Those that were given up, of all receivers. At most 10,000 are counted. */
  readonly failed: number;
}

export async function tallyOf(store: SideStore, receiverIds: readonly string[]): Promise<Tally> {
  let waiting = 0;
  for (const id of receiverIds) waiting += await countOf(store, waitingKind(id));
  return { waiting, failed: await countOf(store, FAILED_KIND) };
}

async function countOf(store: SideStore, kind: string): Promise<number> {
  let count = 0;
  for await (const page of pagesOf(store, kind, PAGE)) {
    count += page.length;
    if (count >= COUNTED_MAX) break;
  }
  return count;
}
