import type { Domain } from '#kernel';
import type { EntryRow } from '#ledger';
import { type Clock, systemClock } from '#oracle';
import type { Assize } from '#runtime';
import type { Store } from '#stores';
import { DomainActions } from '#views';
import { noticeCard } from '../../../packages/server/src/card/notice-card.ts';
import { progressOf } from '../../../packages/server/src/notices/progress.ts';

/** The ports of a sender of notices to the cards of a store, as a server makes them. */
export function noticePorts(
  store: Store,
  assize: Assize,
  domains: readonly Domain[],
  clock: Clock = systemClock,
) {
  const ports = { assize, store, actions: new DomainActions(store, domains) };
  return {
    cardOf: (row: EntryRow) => noticeCard(ports, row),
    progressOf: (row: EntryRow) => progressOf({ ...ports, clock }, row),
  };
}
