import type { z } from 'zod';
import type { Misfit } from '#canon';
import type { Ruling } from '#runtime';
import type { interruptForm, rulingForm } from './operations/forms.ts';

export type RulingDocument = z.input<typeof rulingForm>;

/** A ruling as the API answers it. */
export function rulingDocument(ruling: Ruling): RulingDocument {
  if (ruling.ruling === 'frozen') {
    const { by, detail, waiting } = ruling;
    return { ruling: 'frozen', by, detail, waiting };
  }
  const { id, seq, trajectory_id } = ruling.entry;
  const place = { trajectory_id, seq, entry_id: id };
  if (ruling.ruling === 'committed') {
    const { effects, calls, unchanged } = ruling;
    return {
      ruling: 'committed',
      ...place,
      ...(unchanged && { unchanged }),
      ...(effects !== undefined && { effects, calls: (calls ?? []).map((call) => ({ ...call })) }),
    };
  }
  const { reason, detail, invariantId } = ruling;
  const why = { reason, detail, ...(invariantId !== undefined && { invariant_id: invariantId }) };
  if (ruling.ruling === 'rejected')
    return { ruling: 'rejected', ...place, ...why, findings: (ruling.findings ?? []) as Misfit[] };
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

/** An escalation as the interrupt of AG-UI 1.0. The client resumes with a decision, or waits. */
export function interruptDocument(
  ruling: Extract<Ruling, { readonly ruling: 'escalated' }>,
  expires: string | undefined,
): z.input<typeof interruptForm> {
  const { pending, reason, detail, channel, invariantId, entry } = ruling;
  return {
    outcome: {
      type: 'interrupt',
      interrupts: [
        {
          id: pending,
          reason: 'approval_required',
          message: detail,
          ...(expires !== undefined && { expiresAt: expires }),
          responseSchema: RESPONSE,
          metadata: {
            trajectory_id: entry.trajectory_id,
            channel,
            cause: reason,
            ...(invariantId !== undefined && { invariant_id: invariantId }),
          },
        },
      ],
    },
  };
}

/** The decision of a person: the body of `approvals.approve` or `approvals.reject`. */
const RESPONSE = {
  type: 'object',
  properties: {
    decision: { enum: ['approve', 'reject'] },
    reason: { type: 'string' },
    args: { type: 'object' },
  },
  required: ['decision'],
};
