import type { Json } from '#base';
import { canonicalize, hashText, readCanonical } from '#canon';
import type { SideRow, SideStore } from '#ledger';
import type { GuardedProposal, StuckProposal } from './stuck-guard.ts';

/** The kind of the rows of proposals that blocked a process. */
export const STUCK_KIND = 'stuck';

/**
 * A server knows a record of another one after this time. The process that recorded lives longer,
 * so a client that lost its connection repeats the proposal at servers that know the record.
 */
export const STUCK_FRESH_MS = 250;

const PAGE = 1_000;

/** The key of a proposal's row. It contains no idempotency key, which can be a secret. */
export function stuckKey({ trajectoryId, principal, key }: GuardedProposal): string {
  return hashText(canonicalize(['assize/stuck/v1', trajectoryId, principal, key]));
}

export function stuckIn({ body }: SideRow): StuckProposal {
  return readCanonical(body) as unknown as StuckProposal;
}

export function stuckBody(stuck: StuckProposal): string {
  return canonicalize(stuck as unknown as Json);
}

/** All recorded proposals, by key. */
export async function allStuck(store: SideStore): Promise<ReadonlyMap<string, StuckProposal>> {
  const all = new Map<string, StuckProposal>();
  for (let after: string | undefined; ; ) {
    const rows = await store.sideList(STUCK_KIND, { limit: PAGE, ...(after !== undefined && { after }) });
    for (const row of rows) all.set(row.key, stuckIn(row));
    after = rows.at(-1)?.key;
    if (rows.length < PAGE) return all;
  }
}
