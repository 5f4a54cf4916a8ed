import { writId } from '#authority';
import type { Json } from '#base';
import { contentHash } from '#canon';
import type {
  Approved,
  CounselorCommit,
  Domain,
  Escalated,
  Intent,
  PatchOperation,
  Rejected,
} from '#kernel';
import {
  type Amounts,
  answersErasedBy,
  approvalsOf,
  type Batch,
  type BeliefChange,
  type ChildBeginning,
  type CommitPayload,
  type CounselorRecord,
  type DelegationPayload,
  type Delta,
  difference,
  ERASE_ACTION,
  erasureArgs,
  HALT_ACTION,
  type Hash,
  type Instant,
  loggedErasedBy,
  type PendingPayload,
  type ProposalRecord,
  REVOKE_ACTION,
  type RejectionPayload,
  type Stored,
  UPGRADE_ACTION,
  type VectorItem,
} from '#ledger';
import type { GatheredProposal } from './intent.ts';
import type { PayloadBlobs } from './payload-blobs.ts';
import type { PendingQuestions } from './questions.ts';
import { type CommitPlan, costOf } from './tool-authority.ts';

/** The adjudicating code; recorded so that a replay knows which rules made an entry. */
export const COMPILER_VERSION = 'assize-kernel/1';

/** The position of an entry; the same for every kind. */
export interface EntryPosition {
  readonly trajectory_id: string;
  readonly seq: number;
  readonly parent: Hash | null;
  readonly at: Instant;
}

/** The place of a proposal's entry, and the means to make it. */
export interface EntryTerms {
  readonly place: EntryPosition;
  readonly parentCommit: Hash;
  readonly domain: Domain;
  /** The blobs of the entry. */
  readonly kept: PayloadBlobs;
}

/** The changes of one proposal. */
function deltaOf(
  patches: readonly PatchOperation[],
  kept: PayloadBlobs,
  {
    effects = [],
    beliefs = [],
  }: {
    readonly effects?: Delta['effects'] | undefined;
    readonly beliefs?: Delta['beliefs'] | undefined;
  },
): Delta {
  return { beliefs, effects, state: kept.patches(patches) };
}

/** The built-in actions with arguments that are never hidden. */
const BUILT_IN: ReadonlySet<string> = new Set([
  ERASE_ACTION,
  REVOKE_ACTION,
  HALT_ACTION,
  UPGRADE_ACTION,
]);

/**
 * The arguments, as a sensitive value if the action is unknown. The name may be a slip, and the
 * arguments those of an action with sensitive ones.
 */
function argsOf(
  { domain, kept }: EntryTerms,
  { action, args }: Pick<Intent, 'action' | 'args'>,
): Stored {
  const { actions, sensitive, sensitiveArgs } = domain;
  const isSlip = actions[action] === undefined && !BUILT_IN.has(action);
  return kept.store(
    args,
    sensitiveArgs.has(action) || (isSlip && (sensitive !== undefined || sensitiveArgs.size > 0)),
  );
}

function keyOf({ keyHash }: GatheredProposal): { key_hash?: Hash } {
  return keyHash === undefined ? {} : { key_hash: keyHash };
}

/** The calls that a refused proposal would have made. Erasable, like the inputs of calls made. */
function callsOf({ commitPlan }: GatheredProposal, kept: PayloadBlobs): { calls?: Stored } {
  const calls = commitPlan?.calls ?? [];
  return calls.length === 0 ? {} : { calls: kept.storeSalted(calls as unknown as Json) };
}

/** A payload under construction. */
type PayloadBuilder<Payload> = { -readonly [Member in keyof Payload]?: Payload[Member] };

/**
 * The fields are in canonical order, because most entries are commits and canonical order is the
 * fastest to write. Fields are assigned one by one, because a spread in a literal is slow in the
 * engine.
 */
export function commitPayload(
  terms: EntryTerms,
  gathered: GatheredProposal,
  approved: Pick<Approved, 'compiled' | 'patches'>,
  beliefs?: readonly BeliefChange[],
): CommitPayload {
  const { place, kept } = terms;
  const { compiled } = approved;
  const payload: PayloadBuilder<CommitPayload> = {
    action: {
      args: argsOf(terms, { action: compiled.name, args: compiled.args }),
      name: compiled.name,
      role: compiled.role,
    },
    at: place.at,
    budget_cost: costOf(approved, gathered.commitPlan),
    compiler_version: COMPILER_VERSION,
    delta: deltaOf(approved.patches(), kept, { effects: gathered.commitPlan?.effects, beliefs }),
  };
  if (gathered.commitPlan !== undefined) payload.epoch = gathered.commitPlan.epoch;
  if (gathered.keyHash !== undefined) payload.key_hash = gathered.keyHash;
  payload.kind = 'commit';
  payload.observations = kept.observations(gathered.observations);
  payload.parent = place.parent;
  payload.parent_commit = terms.parentCommit;
  if (compiled.policy !== undefined) payload.policy = compiled.policy;
  payload.proposal_id = gathered.proposalId;
  payload.seq = place.seq;
  payload.trajectory_id = place.trajectory_id;
  payload.writ_id = writId(gathered.writ.writ);
  return payload as CommitPayload;
}

export function rejectionPayload(
  terms: EntryTerms,
  gathered: GatheredProposal,
  refusal: Rejected,
): RejectionPayload {
  const { kept } = terms;
  return {
    kind: 'rejection',
    ...terms.place,
    proposal_id: gathered.proposalId,
    ...keyOf(gathered),
    writ_id: writId(gathered.writ.writ),
    intent: {
      action: gathered.intent.action,
      role: gathered.intent.role,
      args: argsOf(terms, gathered.intent),
      observations: kept.observations(gathered.observations),
      ...callsOf(gathered, kept),
    },
    reason: refusal.reason,
    detail: refusal.detail,
    ...(refusal.invariantId === undefined ? {} : { invariant_id: refusal.invariantId }),
    ...(refusal.policy === undefined ? {} : { policy: refusal.policy }),
  };
}

export function pendingPayload(
  terms: EntryTerms,
  gathered: GatheredProposal,
  escalated: Escalated & Partial<Pick<PendingQuestions, 'questions' | 'saidAt'>>,
  expires: Instant | undefined,
): PendingPayload {
  const { place, kept } = terms;
  const { compiled, questions, saidAt } = escalated;
  const proposal: ProposalRecord = {
    proposal_id: gathered.proposalId,
    ...keyOf(gathered),
    writ_id: writId(gathered.writ.writ),
    action: {
      name: compiled.name,
      role: compiled.role,
      args: argsOf(terms, { action: compiled.name, args: compiled.args }),
    },
    observations: kept.observations(gathered.observations),
    at: place.at,
    delta: deltaOf(escalated.patches, kept, { effects: gathered.commitPlan?.effects }),
    approval: kept.patches(escalated.approval),
    budget_cost: costOf(escalated, gathered.commitPlan),
    ...(questions === undefined
      ? {}
      : { questions: kept.storeSalted(questions as unknown as Json) }),
    ...(saidAt === undefined || saidAt === place.at ? {} : { said_at: saidAt }),
  };
  return {
    kind: 'pending_approval',
    ...place,
    proposal,
    digest: digestOf(proposal),
    channel: escalated.channel,
    reason: escalated.reason,
    detail: escalated.detail,
    freezes: escalated.freezes,
    head: place.parent as Hash,
    ...(escalated.approvals > 1 ? { approvals: escalated.approvals } : {}),
    ...(escalated.invariantId === undefined ? {} : { invariant_id: escalated.invariantId }),
    ...(compiled.policy === undefined ? {} : { policy: compiled.policy }),
    ...(expires === undefined ? {} : { expires }),
    ...(escalated.deputies.length === 0 ? {} : { deputies: escalated.deputies }),
  };
}

/**
 * The hash of the submitted proposal: the proposal, its time, its delta and the additions of the
 * approval (docs/decisions/002-ids-digests-patches.md).
 */
export function digestOf(proposal: ProposalRecord): Hash {
  return contentHash(proposal);
}

/**
 * An approval that is not the last: the pending proposal, submitted again with one more approval.
 */
export function partialApprovalPayload(
  place: EntryPosition,
  pendingId: Hash,
  pending: PendingPayload,
  counselor: CounselorRecord,
): PendingPayload {
  // Signed again, if at all, with the new content.
  const { signature: _, ...submitted } = pending;
  const { given } = approvalsOf(pending);
  return {
    ...submitted,
    ...place,
    head: place.parent as Hash,
    resolves: pendingId,
    approved_by: [...given, { ...counselor, at: place.at }],
  };
}

/** A pending proposal, and the commit by which a counselor resolves it. */
export interface ResolvedPending {
  readonly pendingId: Hash;
  readonly pending: PendingPayload;
  readonly commit: CounselorCommit;
  readonly counselor: CounselorRecord;
}

export function approvalPayload(
  terms: EntryTerms,
  resolved: ResolvedPending,
  epoch: number | undefined,
  beliefs?: readonly BeliefChange[],
): CommitPayload {
  const { proposal, policy, approved_by } = resolved.pending;
  return {
    ...resolvingCommit(terms, resolved),
    action: proposal.action,
    delta: deltaOf(resolved.commit.patches(), terms.kept, {
      effects: proposal.delta.effects,
      beliefs,
    }),
    ...(epoch === undefined ? {} : { epoch }),
    budget_cost: proposal.budget_cost,
    ...(approved_by === undefined ? {} : { approved_by }),
    ...(policy === undefined ? {} : { policy }),
  };
}

/**
 * The commit of an amended proposal: the amended action with its own calls, cost and statements,
 * and the action as it was proposed.
 */
export function amendmentPayload(
  terms: EntryTerms,
  resolved: ResolvedPending,
  first: Intent,
  plan: CommitPlan | undefined,
  beliefs?: readonly BeliefChange[],
): CommitPayload {
  const { domain, kept } = terms;
  const { pending, commit } = resolved;
  const { name, role, args, policy } = commit.compiled;
  return {
    ...resolvingCommit(terms, resolved),
    action: { name, role, args: argsOf(terms, { action: name, args }) },
    amended: {
      action: pending.proposal.action,
      difference: kept.store(
        amendedDifference(first, { args, role }),
        domain.sensitiveArgs.has(name),
      ),
    },
    delta: deltaOf(commit.patches(), kept, { effects: plan?.effects, beliefs }),
    ...(plan === undefined ? {} : { epoch: plan.epoch }),
    budget_cost: costOf(commit, plan),
    ...(policy === undefined ? {} : { policy }),
  };
}

/** The members of a commit that resolves a pending proposal, however it was approved. */
function resolvingCommit(
  { place, parentCommit }: EntryTerms,
  { pendingId, pending, commit, counselor }: ResolvedPending,
): Omit<CommitPayload, 'action' | 'delta' | 'budget_cost'> {
  const { proposal } = pending;
  return {
    kind: 'commit',
    ...place,
    proposal_id: proposal.proposal_id,
    ...(proposal.key_hash === undefined ? {} : { key_hash: proposal.key_hash }),
    writ_id: proposal.writ_id,
    parent_commit: parentCommit,
    observations: proposal.observations,
    compiler_version: COMPILER_VERSION,
    resolves: pendingId,
    counselor,
    detection_vector: commit.vector as readonly VectorItem[],
  };
}

/** The operations from an action to its amendment. */
export function amendedDifference(
  first: Pick<Intent, 'args' | 'role'>,
  amended: Pick<Intent, 'args' | 'role'>,
): Json {
  const [before, after] = [first, amended].map(
    ({ args, role }) => ({ args, role }) as unknown as Json,
  );
  return difference(before as Json, after as Json) as unknown as Json;
}

export function resolutionPayload(
  place: EntryPosition,
  pendingId: Hash,
  { proposal, invariant_id }: PendingPayload,
  resolution: {
    readonly reason: 'counselor_rejected' | 'conflict' | 'expired' | 'upgraded';
    readonly detail: string;
    readonly counselor?: CounselorRecord;
  },
): RejectionPayload {
  return {
    kind: 'rejection',
    ...place,
    proposal_id: proposal.proposal_id,
    ...(proposal.key_hash === undefined ? {} : { key_hash: proposal.key_hash }),
    writ_id: proposal.writ_id,
    intent: {
      action: proposal.action.name,
      role: proposal.action.role,
      args: proposal.action.args,
      observations: proposal.observations,
    },
    resolves: pendingId,
    ...resolution,
    ...(invariant_id === undefined ? {} : { invariant_id }),
  };
}

/** The common fields of the entries of one delegation. */
type DelegationFields = Pick<DelegationPayload, 'child_trajectory_id' | 'task' | 'writ'>;

export function delegationStartPayload(
  place: EntryPosition,
  delegated: DelegationFields,
  begins: ChildBeginning,
): DelegationPayload {
  return { kind: 'delegation', ...place, ...delegationFields(delegated), begins };
}

/** The child's last entry; `budget_cost` is the amount spent under the writ. */
export function answerPayload(
  place: EntryPosition,
  startId: Hash,
  start: DelegationFields,
  said: { readonly budget_cost: Amounts; readonly final_answer?: Stored },
): DelegationPayload {
  return { kind: 'delegation', ...place, ...delegationFields(start), concludes: startId, ...said };
}

/** The parent records the child's answer, and pins its entry. */
export function conclusionPayload(
  place: EntryPosition,
  answerId: Hash,
  answer: DelegationPayload,
): DelegationPayload {
  const { concludes, final_answer, budget_cost = {} } = answer;
  return {
    kind: 'delegation',
    ...place,
    ...delegationFields(answer),
    concludes: concludes as Hash,
    child_head: answerId,
    budget_cost,
    ...(final_answer === undefined ? {} : { final_answer }),
  };
}

function delegationFields({ child_trajectory_id, task, writ }: DelegationFields): DelegationFields {
  return { child_trajectory_id, task, writ };
}

/** The erasures of the batch that an entry is written in. */
export type BatchErasure = Pick<Batch, 'erased' | 'erasedAnswers'>;

/** The values that the commit of an erasure erases, by the id of the commit entry. */
export function batchErasureOf(
  id: Hash,
  { action, args }: Pick<Intent, 'action' | 'args'>,
): BatchErasure | undefined {
  const erasure = action === ERASE_ACTION ? erasureArgs(args) : undefined;
  if (erasure === undefined) return undefined;
  const answers = answersErasedBy(erasure);
  return {
    erased: [...erasure.values, ...loggedErasedBy(erasure)].map(({ hash }) => ({ hash, by: id })),
    ...(answers.length > 0 && { erasedAnswers: answers.map((key) => ({ key, by: id })) }),
  };
}
