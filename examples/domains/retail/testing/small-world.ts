import { retailInitial } from '../initial.ts';
import type { Item, Order, OrderStatus, Product, RetailState, User, Variant } from '../schema.ts';

/**
 * A state small enough to read in one go: shirts and shoes, and one order of `ann` in each status.
 * Each order has a red shirt and a white shoe and is paid by card. `bob` has a delivered order. A
 * test changes its own subject.
 */
export function smallWorld(change: (state: RetailState) => void = () => {}): RetailState {
  const orders = [
    order('P', 'pending'),
    order('P2', 'pending'),
    order('X', 'processed'),
    order('D', 'delivered'),
    order('D2', 'delivered'),
    order('C', 'cancelled'),
    order('B', 'delivered', 'bob'),
  ];
  const state = retailInitial({
    users: { ann: user('ann'), bob: user('bob') },
    products: {
      shirt: product('shirt', { red: 20, blue: 25.1, green: 120, grey: 15, pink: 10 }),
      shoe: product('shoe', { white: 50.05, black: 60 }),
    },
    orders: Object.fromEntries(orders.map((each) => [each.order_id, each])),
  });
  change(state);
  return state;
}

export const ADDRESS = {
  address1: '2 Main',
  address2: '',
  city: 'B',
  state: 'NY',
  country: 'USA',
  zip: '2',
};

/** The arguments of a change of items that is in order: the red shirt for the blue one. */
export function swapArgs(
  order_id: string,
  change: Record<string, unknown> = {},
): Record<string, unknown> {
  return {
    order_id,
    item_ids: ['shirt-red'],
    new_item_ids: ['shirt-blue'],
    payment_method_id: 'card',
    ...change,
  };
}

/** The arguments of a return that is in order: the red shirt, paid back to the card. */
export function returnArgs(
  order_id: string,
  change: Record<string, unknown> = {},
): Record<string, unknown> {
  return { order_id, item_ids: ['shirt-red'], payment_method_id: 'card', ...change };
}

function user(name: string): User {
  return {
    name: { first_name: name, last_name: 'Lee' },
    address: { ...ADDRESS, address1: '1 Main' },
    email: `${name}@example.com`,
    payment_methods: {
      card: { id: 'card', source: 'credit_card', brand: 'visa', last_four: '1234' },
      paypal: { id: 'paypal', source: 'paypal' },
      gift: { id: 'gift', source: 'gift_card', balance: 8 },
      gift100: { id: 'gift100', source: 'gift_card', balance: 100 },
    },
    orders: name === 'ann' ? ['P', 'P2', 'X', 'D', 'D2', 'C'] : ['B'],
  };
}

/** Pink is sold out. */
function product(product_id: string, prices: Record<string, number>): Product {
  const variants = Object.entries(prices).map(([color, price]): [string, Variant] => {
    const item_id = `${product_id}-${color}`;
    return [item_id, { item_id, options: { color }, available: color !== 'pink', price }];
  });
  return { name: product_id, product_id, variants: Object.fromEntries(variants) };
}

function order(order_id: string, status: OrderStatus, user_id = 'ann'): Order {
  const paid = { transaction_type: 'payment', amount: 70.05, payment_method_id: 'card' } as const;
  return {
    order_id,
    user_id,
    address: { ...ADDRESS, address1: '1 Main' },
    items: [item('shirt', 'red', 20), item('shoe', 'white', 50.05)],
    fulfillments: [],
    status,
    payment_history:
      status === 'cancelled' ? [paid, { ...paid, transaction_type: 'refund' }] : [paid],
  };
}

function item(product_id: string, color: string, price: number): Item {
  return {
    name: product_id,
    product_id,
    item_id: `${product_id}-${color}`,
    price,
    options: { color },
  };
}
