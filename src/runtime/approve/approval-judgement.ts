import type { CounselorCommit, ProposedCall } from '#kernel';
import { approvalsOf, type PendingPayload } from '#ledger';
import { type Judgement, judgedChange } from '../records/judgement.ts';
import type { CommitPlan } from '../records/tool-authority.ts';

/**
 * The judgement on an approval that would be recorded. The change is undone. `calls`: those of the
 * recorded proposal. Undefined for an amendment, which has planned ones.
 */
export function approvalJudgement(
  commit: CounselorCommit,
  pending: PendingPayload,
  plan: CommitPlan | undefined,
  calls?: readonly ProposedCall[],
): Judgement {
  const isExact = calls !== undefined;
  // An exact approval books the cost of the submission.
  const booked = isExact ? { cost: { ...pending.proposal.budget_cost } } : {};
  const change = { ...judgedChange(commit, plan, calls), ...booked };
  const overridden = commit.overridden ? { overridden: commit.overrides.map((item) => ({ ...item })) } : {};
  commit.undo();
  if (commit.complete) return { ruling: 'committed', ...overridden, ...change };
  const { channel, reason } = pending;
  const { needed, given } = approvalsOf(pending);
  const detail = `the approval is number ${given.length + 1} of ${needed}`;
  return { ruling: 'escalated', reason, detail, channel, approvals: needed, ...change };
}
