import { isAssizeError } from '#base';
import { canonicalize } from '#canon';
import {
  type Authority,
  approvePending,
  type Cost,
  type CounselorCommit,
  counselorKind,
  type Domain,
  KernelError,
  PROPOSE_AGAIN_HINT,
  seenOf,
} from '#kernel';
import type { Instant, PendingPayload } from '#ledger';
import type { ErasedPartition } from '../../memory/plan/close-erased.ts';
import { type PlannedBeliefs, requireFactStore } from '../../memory/plan/plan-beliefs.ts';
import type { Needs } from '../../records/needs.ts';
import type { PayloadBlobs } from '../../records/payload-blobs.ts';
import { isAnswering } from '../../records/ruling.ts';
import {
  type CommitPlan,
  costOf,
  hasToolObservation,
  sum,
  withTools,
} from '../../records/tool-authority.ts';
import { checkOthers, checkReservations } from '../../writer/freeze/freeze.ts';
import type { Writer } from '../../writer/writer.ts';
import type { ApprovalPorts } from './approval-ports.ts';
import type { ApprovedStatements } from './approved-statements.ts';
import { answersTooEarly, asksNothing } from './counselor-answers.ts';
import type { SubmittedApproval } from './submitted-approval.ts';

/** An approval with everything that its decision needs. */
export interface ReadyApproval extends SubmittedApproval {
  /** The effects of the commit. */
  readonly acting: CommitPlan | undefined;
  /** The partitions that an erasure takes facts from. */
  readonly losing: readonly ErasedPartition[];
}

/** The change as memory has it, with the planned facts. */
interface ApprovedChange {
  readonly commit: CounselorCommit;
  readonly believed?: PlannedBeliefs | undefined;
}

interface ConflictingChange {
  readonly conflict: string;
  /** The kind of the counselor. */
  readonly as: string;
}

/**
 * Decides an approval on the current state, up to its entry: the change that memory has then, or
 * the conflict that ends a proposal which reserved only its changes.
 */
export function decideApproval(
  { writer, beliefs }: ApprovalPorts,
  approval: ReadyApproval,
  statements: ApprovedStatements,
  at: Instant,
  kept: PayloadBlobs,
): Needs | ApprovedChange | ConflictingChange {
  const { domain } = writer.parts;
  const { pendingId, pending, input, waiting, losing } = approval;
  let commit: CounselorCommit;
  try {
    commit = runApproved(writer, approval, at, true);
  } catch (error) {
    const conflict = conflictOf(domain, pending, error);
    if (conflict === undefined) throw error;
    const as = counselorKind(
      domain,
      pending.channel,
      input.principal,
      waiting.requesters,
      seenOf(waiting),
      { ...waiting, at },
    );
    return { conflict, as };
  }
  const unread = checkReservations(writer, commit, at, pendingId);
  if (unread !== undefined) return unread;
  if (!commit.complete) {
    if (!isAnswering(input)) return { commit };
    commit.undo();
    throw answersTooEarly(pendingId, pending);
  }
  if (isAnswering(input) && commit.compiled.statements.length === 0) {
    commit.undo();
    throw asksNothing(pendingId);
  }
  const by = { trajectoryId: writer.id, generation: writer.generation };
  const believed =
    losing.length > 0
      ? requireFactStore(beliefs).planErasure(losing, at, by)
      : statements.plan(pending, commit, at, kept, approval.answers);
  if (believed === undefined || !('needs' in believed)) return { commit, believed };
  commit.undo();
  return believed;
}

/**
 * Runs the proposal again, and requires that it does the same as when it was submitted.
 * `isCommitting`: the budget reserved for compensation is released with the commit.
 */
export function runApproved(
  writer: Writer,
  { pendingId, pending, input, writ, waiting, acting }: ReadyApproval,
  at: Instant,
  isCommitting: boolean,
): CounselorCommit {
  const { world, chain } = writer.parts;
  const { principal, tokenBy = [], override = false, replacement } = input;
  const epoch = isCommitting ? acting?.epoch : undefined;
  const authority = writer.authority(writ, writ.writ.subject, at, {
    approving: true,
    committing: epoch,
  });
  const commit = approvePending(
    world,
    waiting,
    { principal, tokenBy, at, override, ...(replacement === undefined ? {} : { replacement }) },
    withSubmittedCost(authority, acting, pending),
  );
  try {
    requireSubmittedCost(pending, costOf(commit, acting));
    checkOthers(chain, world.domain, pendingId, commit.changes, at);
  } catch (error) {
    commit.undo();
    throw error;
  }
  return commit;
}

/**
 * The difference if a proposal that reserved only its changes would now do something else. Other
 * freezes leave no such difference. A missing authority does not count: it stays an error.
 */
function conflictOf(
  { freeze }: Domain,
  { freezes }: PendingPayload,
  error: unknown,
): string | undefined {
  if (freeze !== 'reserve' || freezes === 'world' || !isAssizeError(error, 'changed_since'))
    return undefined;
  const { difference } = error.evidence;
  return typeof difference === 'string' ? difference : undefined;
}

// A pending proposal books the cost that it was submitted with. The cost of the tools' earlier
// reads was paid then, and is recorded only there.

/** The authority. It must afford the submitted cost too. */
export function withSubmittedCost(
  authority: Authority,
  acting: CommitPlan | undefined,
  { proposal }: PendingPayload,
): Authority {
  const asked = withTools(authority, acting);
  if (!hasToolObservation(proposal.observations)) return asked;
  const { cost = {}, undoCost = {} } = acting ?? {};
  const total = (own: Cost): Cost => greatest(sum(own, cost), proposal.budget_cost);
  return { ...asked, affords: (own) => authority.affords(sum(total(own), undoCost)) };
}

/**
 * The submitted cost is booked. The budgets were checked for the current cost.
 *
 * @throws KernelError `changed_since`
 */
export function requireSubmittedCost({ proposal }: PendingPayload, cost: Cost): void {
  const isLess = hasToolObservation(proposal.observations);
  const [then, now] = [
    proposal.budget_cost,
    isLess ? greatest(cost, proposal.budget_cost) : cost,
  ].map((each) => canonicalize(each));
  if (then === now) return;
  throw new KernelError(
    'changed_since',
    `The proposal has changed since it was submitted: its cost is now ${now}, not ${then}. ${PROPOSE_AGAIN_HINT}.`,
  );
}

function greatest(one: Cost, other: Cost): Cost {
  const units = Object.keys({ ...one, ...other });
  return Object.fromEntries(
    units.map((unit) => [unit, Math.max(one[unit] ?? 0, other[unit] ?? 0)]),
  );
}
