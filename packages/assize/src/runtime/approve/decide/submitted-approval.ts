import { ERASE_ACTION, type PendingProposal } from '#kernel';
import { erasureArgs, type Hash, type PendingPayload } from '#ledger';
import { holdersOf, type WritChain } from '../../authority/writs.ts';
import { RuntimeError } from '../../errors.ts';
import { type ErasedPartition, partitionsToErase } from '../../memory/plan/close-erased.ts';
import { readPendingProposal } from '../../records/pending-proposal.ts';
import type { ApprovalInput } from '../../records/ruling.ts';
import type { CommitPlan } from '../../records/tool-authority.ts';
import { planOfPending } from '../../transactions/commit/plan-only.ts';
import {
  type ResumedTransaction,
  resumeApproved,
} from '../../transactions/commit/resume-approved.ts';
import type { TransactionEngines } from '../../transactions/engine/engines.ts';
import type { Writer } from '../../writer/writer.ts';
import type { ApprovalPorts } from './approval-ports.ts';
import { answersOf, type CounselorAnswers } from './counselor-answers.ts';

/** An approval of a proposal as it was submitted, read before its decision. */
export interface SubmittedApproval {
  readonly pendingId: Hash;
  readonly pending: PendingPayload;
  readonly input: ApprovalInput;
  readonly writ: WritChain;
  /** The proposal with its values, from the ledger. */
  readonly waiting: PendingProposal;
  readonly answers: CounselorAnswers;
}

export async function readApproval(
  ports: ApprovalPorts,
  pendingId: Hash,
  pending: PendingPayload,
  input: ApprovalInput,
): Promise<SubmittedApproval> {
  const { writer } = ports;
  const writ = writer.parts.writs.present(pending.proposal.writ_id);
  const waiting = await writer.readValues(() =>
    readPendingProposal(pending, holdersOf(writ), writer.context),
  );
  const answers = await answersOf(ports, pendingId, pending, input, waiting);
  return { pendingId, pending, input, writ, waiting, answers };
}

/** The partitions that lose facts, if the proposal is an erasure. */
export async function readLosing(
  writer: Writer,
  { intent }: PendingProposal,
): Promise<readonly ErasedPartition[]> {
  const values = intent.action === ERASE_ACTION ? erasureArgs(intent.args)?.values : undefined;
  return values === undefined ? [] : partitionsToErase(writer.context, writer.id, values);
}

/** The effects of the proposal, once no earlier transaction blocks their scopes. */
export async function resumeEffects(
  { writer, effects }: ApprovalPorts,
  pending: PendingPayload,
): Promise<ResumedTransaction | undefined> {
  if (pending.proposal.delta.effects.length === 0) return undefined;
  const { parts } = writer;
  const { subject } = parts.writs.present(pending.proposal.writ_id).writ;
  return resumeApproved(requireToolsFor(effects), parts.domain, { pending, principal: subject });
}

/** The costs of the recorded calls, for a judgement: no transaction begins. */
export async function foreseeEffects(
  { writer, effects }: ApprovalPorts,
  pending: PendingPayload,
): Promise<CommitPlan | undefined> {
  if (pending.proposal.delta.effects.length === 0) return undefined;
  const { parts, context } = writer;
  const tools = requireToolsFor(effects);
  return writer.readValues(() =>
    planOfPending(tools, parts.domain, pending, (hash) => context.store.blob(hash)),
  );
}

/** @throws RuntimeError `bad_argument` */
function requireToolsFor(effects: TransactionEngines | undefined): TransactionEngines {
  if (effects !== undefined) return effects;
  throw new RuntimeError(
    'bad_argument',
    'The pending proposal uses tools. Open the runtime with `tools` to approve it (on the command line: --tools FILE).',
  );
}
