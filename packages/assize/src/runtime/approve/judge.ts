import type { Json } from '#base';
import type { CounselorCommit, ProposedCall } from '#kernel';
import { approvalsOf, type Hash, type PendingPayload } from '#ledger';
import { type Judgement, judgedChange, refusedBy } from '../records/judgement.ts';
import { PayloadBlobs } from '../records/payload-blobs.ts';
import { APPROVAL, type ApprovalInput, checkedResolution, isAmending } from '../records/ruling.ts';
import { SaltSource } from '../records/salts.ts';
import type { CommitPlan } from '../records/tool-authority.ts';
import { DEADLINE_MS } from '../transactions/body/transaction-options.ts';
import { planOnly } from '../transactions/commit/plan-only.ts';
import { requireTools } from '../transactions/commit/run-transaction.ts';
import { callsOfAmended, readAmended } from './decide/amended-proposal.ts';
import type { ApprovalPorts } from './decide/approval-ports.ts';
import { AMENDED, ApprovedStatements, UNCHANGED } from './decide/approved-statements.ts';
import { decideAmendment } from './decide/decide-amendment.ts';
import { decideApproval } from './decide/decide-approval.ts';
import { foreseeEffects, readApproval, readLosing } from './decide/submitted-approval.ts';
import { judgeExpired } from './pending/expire.ts';
import { type ResolutionCall, untilResolved } from './pending/resolve.ts';

/**
 * The ruling that `approve` would give with the same input. Writes nothing, begins no transaction,
 * asks no judge of contradictions and calls no tool.
 */
export async function judgeApproval(
  ports: ApprovalPorts,
  pendingId: Hash,
  given: ApprovalInput,
): Promise<Judgement> {
  const input = checkedResolution(given, APPROVAL);
  const { parts } = ports.writer;
  const pending = parts.chain.open.get(pendingId);
  try {
    return isAmending(input)
      ? await judgeAmendment(ports, pendingId, input)
      : await judgeSubmitted(ports, pendingId, input);
  } catch (error) {
    const { args } = input;
    const amended =
      pending === undefined || args === undefined
        ? undefined
        : { action: pending.proposal.action.name, args: args as Json };
    return refusedBy(error, ports.writer.parts.domain, amended);
  }
}

function judgeSubmitted(
  ports: ApprovalPorts,
  pendingId: Hash,
  input: ApprovalInput,
): Promise<Judgement> {
  const { writer } = ports;
  const salts = new SaltSource(writer.context.random);
  const statements = new ApprovedStatements(ports, {
    pendingId,
    call: input,
    isJudgement: true,
    errors: UNCHANGED,
  });
  return untilResolved(writer, judgingCall(pendingId, input), async (pending) => {
    const approval = await readApproval(ports, pendingId, pending, input);
    const acting = await foreseeEffects(ports, pending);
    const losing = await readLosing(writer, approval.waiting);
    return (at) => {
      const kept = new PayloadBlobs(
        writer.context.saltGenerator(salts.restartAt(writer.parts.chain.head)),
      );
      const decided = decideApproval(ports, { ...approval, acting, losing }, statements, at, kept);
      if ('needs' in decided) return decided;
      if ('conflict' in decided)
        return { unrecorded: { ruling: 'rejected', reason: 'conflict', detail: decided.conflict } };
      const calls = approval.waiting.inputs.calls ?? [];
      return { unrecorded: judgementOn(decided.commit, pending, acting, calls) };
    };
  });
}

/**
 * The calls are planned for the amended proposal, and nothing is claimed or written for them.
 *
 * @throws the errors of `amend`
 */
async function judgeAmendment(
  ports: ApprovalPorts,
  pendingId: Hash,
  input: ApprovalInput,
): Promise<Judgement> {
  const { writer } = ports;
  const salts = new SaltSource(writer.context.random);
  const statements = new ApprovedStatements(ports, {
    pendingId,
    call: input,
    isJudgement: true,
    errors: AMENDED,
  });
  return untilResolved(writer, judgingCall(pendingId, input), async (pending) => {
    const amended = await readAmended(writer, pendingId, pending, input);
    const plan = await planOf(ports, amended.intent.action, callsOfAmended(writer, amended));
    return (at) => {
      const decided = decideAmendment(writer, amended, plan, statements, { at, salts });
      if (decided === undefined || 'needs' in decided) return decided;
      return { unrecorded: judgementOn(decided.commit, pending, plan) };
    };
  });
}

function judgingCall(pendingId: Hash, input: ApprovalInput): ResolutionCall<Judgement> {
  return { pendingId, input, expired: judgeExpired };
}

function planOf(
  { writer, effects }: ApprovalPorts,
  action: string,
  calls: readonly ProposedCall[],
): Promise<CommitPlan | undefined> {
  if (calls.length === 0) return Promise.resolve(undefined);
  return planOnly(
    requireTools(effects),
    calls,
    writer.parts.domain,
    action,
    AbortSignal.timeout(DEADLINE_MS),
  );
}

/**
 * The judgement on an approval that would be recorded. The change is undone. `calls`: those of the
 * recorded proposal. Undefined for an amendment: it has planned ones.
 */
function judgementOn(
  commit: CounselorCommit,
  pending: PendingPayload,
  plan: CommitPlan | undefined,
  calls?: readonly ProposedCall[],
): Judgement {
  // An approval of the proposal as submitted books the cost of the submission.
  const booked = calls === undefined ? {} : { cost: { ...pending.proposal.budget_cost } };
  const change = { ...judgedChange(commit, plan, calls), ...booked };
  const overridden = commit.overridden
    ? { overridden: commit.overrides.map((item) => ({ ...item })) }
    : {};
  commit.undo();
  if (commit.complete) return { ruling: 'committed', ...overridden, ...change };
  const { channel, reason } = pending;
  const { needed, given } = approvalsOf(pending);
  const detail = `the approval is number ${given.length + 1} of ${needed}`;
  return { ruling: 'escalated', reason, detail, channel, approvals: needed, ...change };
}
