import { approvalsOf, type PendingPayload } from '#ledger';

/** How far the approvals are that a proposal takes, where one is not enough: `1 of 2 (dr-a)`. */
export function soFar(payload: PendingPayload): string[] {
  const { needed, given } = approvalsOf(payload);
  if (needed === 1) return [];
  const who = given.length === 0 ? '' : ` (${given.map(({ principal }) => principal).join(', ')})`;
  return [`${given.length} of ${needed}${who}`];
}
