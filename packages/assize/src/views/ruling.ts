import type { EffectOutcome, EffectsStatus, Ruling } from '#runtime';

interface Place {
  readonly trajectory_id: string;
  readonly seq: number;
  readonly entry_id: string;
  /** The request that the entry asks for, or ends. It stays the same over several approvals. */
  readonly request_id?: string;
}

/** A call of a commit, with its answer if there is one. */
interface CallDocument extends Pick<EffectOutcome, 'id' | 'tool' | 'phase' | 'answer'> {
  readonly too_long?: true;
  readonly unreadable?: true;
}

interface Why {
  readonly reason: string;
  readonly detail: string;
  readonly invariant_id?: string;
}

/** A ruling as a document. The API, events, webhooks and the command line all show this one. */
export type RulingDocument =
  | (Place & {
      readonly ruling: 'committed';
      readonly unchanged?: true;
      readonly effects?: EffectsStatus;
      readonly calls?: CallDocument[];
    })
  | (Place &
      Why & {
        readonly ruling: 'rejected';
        readonly findings: { pointer: string; message: string }[];
      })
  | (Place &
      Why & {
        readonly ruling: 'escalated';
        readonly approval_id: string;
        readonly channel: string;
        readonly approvals: number;
        readonly approved_by: string[];
      })
  | {
      readonly ruling: 'frozen';
      readonly by: string;
      readonly detail: string;
      readonly waiting: Extract<Ruling, { ruling: 'frozen' }>['waiting'];
    };

export function rulingView(ruling: Ruling): RulingDocument {
  if (ruling.ruling === 'frozen') {
    const { by, detail, waiting } = ruling;
    return { ruling: 'frozen', by, detail, waiting };
  }
  const { id, seq, trajectory_id } = ruling.entry;
  const { request } = ruling;
  const place = {
    trajectory_id,
    seq,
    entry_id: id,
    ...(request !== undefined && { request_id: request }),
  };
  if (ruling.ruling === 'committed') {
    const { effects, calls = [], unchanged } = ruling;
    return {
      ruling: 'committed',
      ...place,
      ...(unchanged && { unchanged }),
      ...(effects !== undefined && { effects, calls: calls.map(callView) }),
    };
  }
  const { reason, detail, invariantId } = ruling;
  const why = { reason, detail, ...(invariantId !== undefined && { invariant_id: invariantId }) };
  if (ruling.ruling === 'rejected')
    return {
      ruling: 'rejected',
      ...place,
      ...why,
      findings: (ruling.findings ?? []).map((one) => ({ ...one })),
    };
  const { pending, channel, approvals = 1, approvedBy = [] } = ruling;
  return {
    ruling: 'escalated',
    ...place,
    ...why,
    approval_id: pending,
    channel,
    approvals,
    approved_by: approvedBy.map(({ principal }) => principal),
  };
}

/** The answer to an agent that asks about a tool call. `committed`: the call can start, once. */
export type CallAnswer = { readonly ruling: RulingDocument } & (
  | { readonly kind: 'committed' }
  | { readonly kind: 'denied'; readonly reason: string }
  | { readonly kind: 'pending'; readonly approval: string; readonly reason: string }
);

/**
 * The ruling on a tool call, in the few words of an agent. Gate, hooks and MCP gateway use it: an
 * expiry or a refusal denies the call, and a frozen call waits for the approval that blocks it.
 */
export function callAnswer(ruling: RulingDocument): CallAnswer {
  if (ruling.ruling === 'committed') return { kind: 'committed', ruling };
  if (ruling.ruling === 'rejected')
    return { kind: 'denied', reason: ruling.detail || ruling.reason, ruling };
  const approval = ruling.ruling === 'frozen' ? ruling.by : ruling.approval_id;
  return { kind: 'pending', approval, reason: ruling.detail, ruling };
}

function callView({
  id,
  tool,
  phase,
  answer,
  isTooLong,
  isUnreadable,
}: EffectOutcome): CallDocument {
  return {
    ...{ id, tool, phase },
    ...(answer !== undefined && { answer }),
    ...(isTooLong && { too_long: isTooLong }),
    ...(isUnreadable && { unreadable: isUnreadable }),
  };
}
