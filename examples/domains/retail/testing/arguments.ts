import fc from 'fast-check';
import type { RetailActions } from '../tools.ts';
import { ADDRESS } from './small-world.ts';

const order_id = fc.constantFrom('P', 'P2', 'X', 'D', 'D2', 'C', 'B', 'none');
const payment_method_id = fc.constantFrom('card', 'paypal', 'gift', 'gift100', 'none');
const item = fc.constantFrom('shirt-red', 'shoe-white', 'shirt-blue', 'none');
/** The items to swap and their replacements, mostly allowed ones. */
const pair = fc.oneof(
  fc.constantFrom(
    ['shirt-red', 'shirt-blue'],
    ['shoe-white', 'shoe-black'],
    ['shirt-red', 'shirt-grey'],
  ),
  fc.tuple(item, fc.constantFrom('shirt-green', 'shirt-pink', 'shoe-black', 'shirt-red', 'none')),
);
const swap = fc
  .record({ order_id, pairs: fc.array(pair, { maxLength: 2 }), payment_method_id })
  .map(({ pairs, ...rest }) => ({
    ...rest,
    item_ids: pairs.map(([from]) => from as string),
    new_item_ids: pairs.map(([, to]) => to as string),
  }));

/** Arguments about the small world, right and wrong, by action. */
export const smallArguments: { [Name in keyof RetailActions]: fc.Arbitrary<RetailActions[Name]> } =
  {
    cancel_pending_order: fc.record({
      order_id,
      reason: fc.constantFrom('no longer needed', 'too dear'),
    }),
    exchange_delivered_order_items: swap,
    modify_pending_order_address: order_id.map((id) => ({ order_id: id, ...ADDRESS })),
    modify_pending_order_items: swap,
    modify_pending_order_payment: fc.record({ order_id, payment_method_id }),
    modify_user_address: fc
      .constantFrom('ann', 'bob', 'none')
      .map((user_id) => ({ user_id, ...ADDRESS })),
    return_delivered_order_items: fc.record({
      order_id,
      item_ids: fc.array(item, { maxLength: 2 }),
      payment_method_id,
    }),
  };
