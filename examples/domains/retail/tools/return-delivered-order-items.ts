import { z } from 'zod';
import { findMethod, findOrder, namedMethod } from './find.ts';
import { record } from './record.ts';
import { missingItem } from './swap.ts';
import type { Tool } from './tool.ts';

export interface ReturnDeliveredOrderItems {
  order_id: string;
  item_ids: string[];
  payment_method_id: string;
}

export const returnDeliveredOrderItems: Tool<'return', ReturnDeliveredOrderItems> = {
  process: 'return',
  description: 'Return items of a delivered order; once.',
  args: z.object({
    order_id: z.string(),
    item_ids: z.array(z.string()),
    payment_method_id: z.string(),
  }),
  check: (state, { order_id, item_ids, payment_method_id }, user) => {
    const order = findOrder(state, user, order_id);
    if (order.status !== 'delivered') throw new Error('non-delivered order cannot be returned');
    const { source } = findMethod(state, user, payment_method_id);
    if (
      source !== 'gift_card' &&
      payment_method_id !== order.payment_history[0]?.payment_method_id
    ) {
      throw new Error('payment method should be either the original payment method or a gift card');
    }
    if (missingItem(order, item_ids) !== undefined) throw new Error('some item not found');
  },
  perform: (state, { order_id, item_ids, payment_method_id }, user) => {
    const order = findOrder(state, user, order_id);
    record(state, user, order_id, {
      kind: 'return',
      status: order.status,
      items: order.items.map(({ item_id }) => item_id),
      returned: item_ids,
      method: namedMethod(state, user, payment_method_id),
      original: originalMethod(order.payment_history),
    });
    order.status = 'return requested';
    order.return_items = item_ids.toSorted();
    order.return_payment_method_id = payment_method_id;
  },
};

function originalMethod([first]: readonly { payment_method_id: string }[]): string {
  if (first === undefined) throw new Error('the order was never paid');
  return first.payment_method_id;
}
