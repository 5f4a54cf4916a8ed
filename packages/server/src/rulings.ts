import type { interruptForm } from '@assize/command/operation';
import type { Ruling } from 'assize/internal/runtime';
import type { z } from 'zod';

/** An escalation as the interrupt of AG-UI 1.0. The client resumes with a decision, or waits. */
export function interruptDocument(
  ruling: Extract<Ruling, { readonly ruling: 'escalated' }>,
  { expires, page }: { readonly expires: string | undefined; readonly page: string },
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
            page,
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
