import type { Item, NamedMethod, Offer, Order, PaymentMethod, RetailState } from '../schema.ts';

/** An order of the user; another user's is not found. */
export function findOrder(state: RetailState, user: string, order_id: string): Order {
  const order = state.orders[user]?.[order_id];
  if (order === undefined) throw new Error('order not found');
  return order;
}

export function findMethod(state: RetailState, user: string, id: string): PaymentMethod {
  const method = state.users[user]?.payment_methods[id];
  if (method === undefined) throw new Error('payment method not found');
  return method;
}

/** The method as an event row has it, whether or not the profile does. */
export function namedMethod(state: RetailState, user: string, id: string): NamedMethod {
  const method = state.users[user]?.payment_methods[id];
  if (method === undefined) return { id };
  return method.source === 'gift_card'
    ? { id, source: method.source, balance: method.balance }
    : { id, source: method.source };
}

export function findItem({ items }: Order, item_id: string): Item {
  const item = items.find((candidate) => candidate.item_id === item_id);
  if (item === undefined) throw new Error(`${item_id} not found`);
  return item;
}

/** A variant of the product, or else of whichever product has it. */
export function findOffer({ products }: RetailState, product_id: string, item_id: string): Offer {
  for (const candidate of [product_id, ...Object.keys(products)]) {
    const variant = products[candidate]?.variants[item_id];
    if (variant !== undefined)
      return { ...variant, options: { ...variant.options }, product_id: candidate };
  }
  throw new Error(`new item ${item_id} not found or available`);
}
