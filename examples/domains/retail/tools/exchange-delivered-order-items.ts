import { rounded } from '../cents.ts';
import { checkCovers } from './charge.ts';
import { findOrder, namedMethod } from './find.ts';
import { record } from './record.ts';
import { checkSwaps, differenceOf, type SwapArgs, swapArgs, swapsOf } from './swap.ts';
import type { Tool } from './tool.ts';

/** Nothing is paid yet: the difference is promised from the method that is named. */
export const exchangeDeliveredOrderItems: Tool<'exchange', SwapArgs> = {
  process: 'exchange',
  description: 'Exchange items of a delivered order for other variants of the same product; once.',
  args: swapArgs,
  check: (state, args, user) => {
    const order = findOrder(state, user, args.order_id);
    if (order.status !== 'delivered') throw new Error('non-delivered order cannot be exchanged');
    checkSwaps(state, order, args);
    checkCovers(state, user, {
      id: args.payment_method_id,
      amount: rounded(differenceOf(swapsOf(state, order, args))),
      short: 'insufficient gift card balance to pay for the price difference',
    });
  },
  perform: (state, args, user) => {
    const { order_id, item_ids, new_item_ids, payment_method_id } = args;
    const order = findOrder(state, user, order_id);
    const swaps = swapsOf(state, order, args);
    const difference = rounded(differenceOf(swaps));
    record(state, user, order_id, {
      kind: 'exchange',
      status: order.status,
      items: order.items.map(({ item_id }) => item_id),
      swaps,
      method: namedMethod(state, user, payment_method_id),
      difference,
    });
    order.status = 'exchange requested';
    order.exchange_items = item_ids.toSorted();
    order.exchange_new_items = new_item_ids.toSorted();
    order.exchange_payment_method_id = payment_method_id;
    order.exchange_price_difference = difference;
  },
};
