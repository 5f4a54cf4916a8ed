import { contentHash } from '#canon';
import type { Hash } from '#ledger';
import type { ApprovalInput } from '../records/ruling.ts';
import type { NamedRun } from '../writer/domain-watch.ts';

/** The same run for every approver. An amendment is another run than the proposal as submitted. */
export function approvalRun(pendingId: Hash, action: string, { principal, args, role }: ApprovalInput): NamedRun {
  const isAmended = args !== undefined || role !== undefined;
  const id = isAmended ? contentHash({ pendingId, args: args ?? null, role: role ?? null } as never) : pendingId;
  return { step: 'approval', id, action, principal };
}
