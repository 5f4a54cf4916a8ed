import { z } from 'zod';
import type { Dollars, Order, RetailState, Swap } from '../schema.ts';
import { findItem, findOffer } from './find.ts';

/**
 * The arguments for changing the items of a pending order and for exchanging items of a delivered
 * order.
 */
export interface SwapArgs {
  order_id: string;
  item_ids: string[];
  new_item_ids: string[];
  payment_method_id: string;
}

export const swapArgs: z.ZodType<SwapArgs> = z.object({
  order_id: z.string(),
  item_ids: z.array(z.string()),
  new_item_ids: z.array(z.string()),
  payment_method_id: z.string(),
});

/** Each item with its new one, in the order they were named. */
export function swapsOf(
  state: RetailState,
  order: Order,
  { item_ids, new_item_ids }: SwapArgs,
): Swap[] {
  return item_ids.map((item_id, i) => {
    const { product_id, price, options } = findItem(order, item_id);
    const offer = findOffer(state, product_id, new_item_ids[i] ?? '');
    return { item: { item_id, product_id, price, options: { ...options } }, offer };
  });
}

/** New prices less old ones, added up in the benchmark's order and not rounded. */
export function differenceOf(swaps: readonly Swap[]): Dollars {
  return swaps.reduce((sum, { item, offer }) => sum + (offer.price - item.price), 0);
}

/** The benchmark's checks of the items: the same for both tools. */
export function checkSwaps(
  state: RetailState,
  order: Order,
  { item_ids, new_item_ids }: SwapArgs,
): void {
  const missing = missingItem(order, item_ids);
  if (missing !== undefined) throw new Error(`${missing} not found`);
  if (item_ids.length !== new_item_ids.length)
    throw new Error('the number of items to be exchanged should match');
  for (const [i, item_id] of item_ids.entries()) {
    const new_item_id = new_item_ids[i] ?? '';
    const variant = state.products[findItem(order, item_id).product_id]?.variants[new_item_id];
    if (variant?.available !== true)
      throw new Error(`new item ${new_item_id} not found or available`);
  }
}

/** The first id that is named more often than the order has it. */
export function missingItem({ items }: Order, item_ids: readonly string[]): string | undefined {
  return item_ids.find(
    (item_id) =>
      item_ids.filter((id) => id === item_id).length >
      items.filter((item) => item.item_id === item_id).length,
  );
}
