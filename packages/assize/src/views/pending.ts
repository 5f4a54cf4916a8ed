import type { Json } from '#base';
import {
  approvalsOf,
  type EntryRow,
  isEffectPending,
  type LedgerStore,
  type PendingPayload,
  pendingEffectOf,
  type ValueReader,
} from '#ledger';
import type { AskedQuestion } from '#runtime';
import { overridesIn } from './overrides.ts';
import { toolCalls } from './tool-calls.ts';

/** The choices required before an approval. Empty if there are none. */
export type Questions = readonly AskedQuestion[] | 'erased';

/** @throws LedgerFault for a missing blob */
export async function questionsIn(pending: PendingPayload, values: Pick<ValueReader, 'read'>): Promise<Questions> {
  const { questions } = pending.proposal;
  if (questions === undefined) return [];
  const held = await values.read<Json>(pending, questions as never);
  return 'value' in held ? (held.value as unknown as readonly AskedQuestion[]) : 'erased';
}

/** A pending proposal with the values that its document shows. */
export interface PendingParts {
  readonly id: EntryRow['id'];
  readonly payload: PendingPayload;
  /** The open choices of the approver. */
  readonly questions: Questions;
  /** The id under which the proposal was first pending. */
  readonly request: string;
  /** A withdrawn source of the proposal, which can only be rejected. */
  readonly withdrawn?: string;
}

/** A pending proposal as a document: the calls, the changes and the cost of its approval. */
export async function pendingView(store: LedgerStore, { id, payload, request, questions, withdrawn }: PendingParts) {
  const { trajectory_id, seq, at, proposal, digest, channel, reason, invariant_id, detail, freezes, expires } = payload;
  const { action, budget_cost, delta, approval } = proposal;
  const { needed, given } = approvalsOf(payload);
  const overrides = overridesIn(payload);
  return {
    id,
    of: isEffectPending(payload) ? ('effect' as const) : ('proposal' as const),
    request_id: request,
    trajectory_id,
    seq,
    at,
    action,
    budget_cost,
    changes: delta.state,
    tools: await toolCalls(store, payload.proposal.delta),
    approval,
    digest,
    channel,
    approvals: needed,
    approved_by: given,
    ...(overrides.length === 0 ? {} : { overrides }),
    reason,
    ...(isEffectPending(payload) ? { effect: pendingEffectOf(payload) } : {}),
    ...(invariant_id === undefined ? {} : { invariant_id }),
    detail,
    freezes,
    ...(questions === 'erased' ? { questions: null } : questions.length > 0 ? { questions } : {}),
    ...(expires === undefined ? {} : { expires }),
    ...(withdrawn === undefined ? {} : { withdrawn_source: withdrawn }),
  };
}
