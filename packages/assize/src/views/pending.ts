import type { Json } from '#base';
import type { Domain } from '#kernel';
import {
  approvalsOf,
  type EntryRow,
  isEffectPending,
  type LedgerStore,
  type Observation,
  type Patch,
  type PendingPayload,
  pendingEffectOf,
  type ValueReader,
} from '#ledger';
import { type AskedQuestion, requestOf, withdrawnSourceOf } from '#runtime';
import { overridesIn } from './overrides.ts';
import { presentationOf, shownOf } from './shown.ts';
import { toolCalls } from './tool-calls.ts';

/** The choices required before an approval. Empty if there are none. */
export type Questions = readonly AskedQuestion[] | 'erased';

/** An observation of a proposal. An erased value is absent. */
export interface ShownObservation {
  readonly name: string;
  readonly value?: Json;
  readonly oracle_key?: string;
}

/** A pending proposal with the values that its document shows. */
export interface PendingParts {
  readonly id: EntryRow['id'];
  readonly payload: PendingPayload;
  /** Absent after an erasure. */
  readonly args?: Json;
  /** Null after an erasure. */
  readonly changes: readonly Patch[] | null;
  readonly observations: readonly ShownObservation[];
  /** The open choices of the approver. */
  readonly questions: Questions;
  /** The id under which the proposal was first pending. */
  readonly request: string;
  /** A withdrawn source of the proposal. The proposal can only be rejected. */
  readonly withdrawn?: string;
}

/** Reads the parts of a pending proposal. @throws LedgerFault for a missing blob */
export async function pendingParts(
  store: LedgerStore,
  values: Pick<ValueReader, 'read'>,
  { id, payload }: Pick<PendingParts, 'id' | 'payload'>,
): Promise<PendingParts> {
  const { action, delta, observations } = payload.proposal;
  const [args, changes] = await Promise.all([
    values.read(payload, action.args),
    values.read(payload, delta.state),
  ]);
  const withdrawn = await withdrawnSourceOf(payload, store);
  return {
    ...{ id, payload, request: (await requestOf(payload, store)) ?? id },
    ...('value' in args && { args: args.value }),
    changes: 'value' in changes ? changes.value : null,
    observations: await Promise.all(observations.map((one) => observationIn(values, payload, one))),
    questions: await questionsIn(payload, values),
    ...(withdrawn !== undefined && { withdrawn }),
  };
}

async function observationIn(
  values: Pick<ValueReader, 'read'>,
  payload: PendingPayload,
  { name, value, oracle_key }: Observation,
): Promise<ShownObservation> {
  if (oracle_key !== undefined) return { name, oracle_key };
  const read = value === undefined ? {} : await values.read(payload, value);
  return { name, ...('value' in read && { value: read.value as Json }) };
}

/** @throws LedgerFault for a missing blob */
async function questionsIn(
  pending: PendingPayload,
  values: Pick<ValueReader, 'read'>,
): Promise<Questions> {
  const { questions } = pending.proposal;
  if (questions === undefined) return [];
  const held = await values.read<Json>(pending, questions as never);
  return 'value' in held ? (held.value as unknown as readonly AskedQuestion[]) : 'erased';
}

/**
 * A pending proposal as a document: the calls, the changes and the cost of its approval, and its
 * words by the actions of its domain.
 */
export async function pendingView(
  store: LedgerStore,
  parts: PendingParts,
  actions: Domain['actions'],
) {
  const { id, payload, request, args, changes, observations, questions, withdrawn } = parts;
  const {
    trajectory_id,
    seq,
    at,
    proposal,
    digest,
    channel,
    reason,
    invariant_id,
    detail,
    freezes,
    expires,
    deputies,
  } = payload;
  const { action, budget_cost, delta, approval } = proposal;
  const { needed, given } = approvalsOf(payload);
  const overrides = overridesIn(payload);
  const asked = { name: action.name, args };
  const presented = actions[action.name]?.present;
  const present = presentationOf(asked, presented);
  return {
    id,
    of: isEffectPending(payload) ? ('effect' as const) : ('proposal' as const),
    request_id: request,
    trajectory_id,
    seq,
    at,
    action: { name: action.name, role: action.role, ...(args !== undefined && { args }) },
    shown: shownOf(asked, presented),
    ...(present !== undefined && { present }),
    budget_cost,
    changes,
    observations,
    tools: await toolCalls(store, delta),
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
    ...(deputies === undefined ? {} : { deputies }),
    ...(withdrawn === undefined ? {} : { withdrawn_source: withdrawn }),
  };
}
