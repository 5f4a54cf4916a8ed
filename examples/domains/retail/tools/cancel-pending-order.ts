import { z } from 'zod';
import { isReason } from '../reasons.ts';
import { charge } from './charge.ts';
import { findOrder } from './find.ts';
import { record } from './record.ts';
import type { Tool } from './tool.ts';

export interface CancelPendingOrder {
  order_id: string;
  reason: string;
}

export const cancelPendingOrder: Tool<'cancellation', CancelPendingOrder> = {
  process: 'cancellation',
  description: 'Cancel a pending order.',
  args: z.object({ order_id: z.string(), reason: z.string() }),
  check: (state, { order_id, reason }, user) => {
    const { status } = findOrder(state, user, order_id);
    if (status !== 'pending') throw new Error('non-pending order cannot be cancelled');
    if (!isReason(reason)) throw new Error('invalid reason');
  },
  perform: (state, { order_id, reason }, user) => {
    const order = findOrder(state, user, order_id);
    record(state, user, order_id, { kind: 'cancellation', status: order.status, reason });
    // The benchmark pays back every entry, refunds too. If the sum is too high, CANCELLATION_REFUND
    // reports it.
    const refunds = order.payment_history.map(({ amount, payment_method_id }) => ({
      transaction_type: 'refund' as const,
      amount,
      payment_method_id,
    }));
    for (const { amount, payment_method_id } of refunds)
      charge(state, user, payment_method_id, -amount);
    order.payment_history.push(...refunds);
    order.status = 'cancelled';
    order.cancel_reason = reason;
  },
};
