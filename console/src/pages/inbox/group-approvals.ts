import type { Approval } from '../../api/queries.ts';
import { namedAction } from './gated-call-of.ts';

/** Approvals that wait for the same reason: the same action, rule, channel and domain of work. */
export interface ApprovalGroup {
  readonly key: string;
  readonly approvals: readonly Approval[];
}

/** Groups like approvals, in the order of the first of each. */
export function groupApprovals(approvals: readonly Approval[]): ApprovalGroup[] {
  const groups = new Map<string, Approval[]>();
  for (const approval of approvals) {
    const { trajectory_id, action, channel, reason, invariant_id = '' } = approval;
    const key = JSON.stringify([
      trajectory_id,
      namedAction(action).name,
      channel,
      reason,
      invariant_id,
    ]);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [approval]);
    else group.push(approval);
  }
  return [...groups].map(([key, members]) => ({ key, approvals: members }));
}
