import { charge, checkCovers } from './charge.ts';
import { findItem, findOrder, namedMethod } from './find.ts';
import { record } from './record.ts';
import { checkSwaps, differenceOf, type SwapArgs, swapArgs, swapsOf } from './swap.ts';
import type { Tool } from './tool.ts';

export const modifyPendingOrderItems: Tool<'modification', SwapArgs> = {
  process: 'modification',
  description: 'Modify items of a pending order to other variants of the same product; once.',
  args: swapArgs,
  check: (state, args, user) => {
    const order = findOrder(state, user, args.order_id);
    if (order.status !== 'pending') throw new Error('non-pending order cannot be modified');
    checkSwaps(state, order, args);
    checkCovers(state, user, {
      id: args.payment_method_id,
      amount: differenceOf(swapsOf(state, order, args)),
      short: 'insufficient gift card balance to pay for the new item',
    });
  },
  perform: (state, args, user) => {
    const { order_id, payment_method_id } = args;
    const order = findOrder(state, user, order_id);
    const swaps = swapsOf(state, order, args);
    const difference = differenceOf(swaps);
    record(state, user, order_id, {
      kind: 'items',
      status: order.status,
      items: order.items.map(({ item_id }) => item_id),
      swaps,
      method: namedMethod(state, user, payment_method_id),
      difference,
    });
    // Not rounded: so the benchmark has it.
    order.payment_history.push({
      transaction_type: difference > 0 ? 'payment' : 'refund',
      amount: Math.abs(difference),
      payment_method_id,
    });
    charge(state, user, payment_method_id, difference);
    for (const { item, offer } of swaps) {
      const { item_id, price, options } = offer;
      Object.assign(findItem(order, item.item_id), { item_id, price, options: { ...options } });
    }
    order.status = 'pending (item modified)';
  },
};
