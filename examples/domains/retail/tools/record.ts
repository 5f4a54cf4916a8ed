import type { OrderEvent, RetailState } from '../schema.ts';

/** Adds a row to an order's events. */
export function record(
  state: RetailState,
  user: string,
  order_id: string,
  event: OrderEvent,
): void {
  const own = state.events[user];
  if (own === undefined) throw new Error('user not found');
  own[order_id] ??= [];
  own[order_id]?.push(event);
}
