import { contentHash } from '#canon';
import type { Hash } from '#ledger';
import { type ApprovalInput, isAmending } from '../../records/ruling.ts';
import type { NamedRun } from '../../writer/domain-watch.ts';

/** The same run for every approver. An amendment is another run than the proposal as submitted. */
export function approvalRun(pendingId: Hash, action: string, input: ApprovalInput): NamedRun {
  const { principal, args, role } = input;
  const id = isAmending(input)
    ? contentHash({ pendingId, args: args ?? null, role: role ?? null } as never)
    : pendingId;
  return { step: 'approval', id, action, principal };
}
