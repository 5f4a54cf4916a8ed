import type { Json } from '#base';
import { canonicalize, hashText, readCanonical } from '#canon';
import type { SideRow } from '#ledger';
import type { GuardedProposal, StuckProposal } from './stuck-guard.ts';

/** The kind of the rows of proposals that blocked a process. */
export const STUCK_KIND = 'stuck';

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
