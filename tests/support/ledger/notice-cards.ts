import type { Domain } from '#kernel';
import type { EntryRow, LedgerStore } from '#ledger';
import type { Assize } from '#runtime';
import { DomainActions } from '#views';
import { noticeCard } from '../../../packages/server/src/card/notice-card.ts';

/** The cards of a store's proposals for receivers of notices, as a server makes them. */
export function noticeCards(store: LedgerStore, assize: Assize, domains: readonly Domain[]) {
  const actions = new DomainActions(store, domains);
  return (row: EntryRow) => noticeCard({ assize, store, actions, tools: [] }, row);
}
