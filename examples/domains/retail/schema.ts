/**
 * The shop's state. `users`, `products` and `orders` are the benchmark's records and stay
 * comparable with them, field for field. Orders are stored under their user, so the agent of one
 * user sees no others. Other data of the policy is in `events`: rows that record a change of an
 * order with its circumstances, so a later state never checks the change again.
 */
import { z } from 'zod';

/**
 * US dollars as the benchmark has them: floating point, not always whole cents. Rules compare
 * `cents` of them.
 */
export type Dollars = number;

export type PaymentSource = 'credit_card' | 'paypal' | 'gift_card';

export type PaymentMethod =
  | { id: string; source: 'credit_card'; brand: string; last_four: string }
  | { id: string; source: 'paypal' }
  | { id: string; source: 'gift_card'; balance: Dollars };

export interface Address {
  address1: string;
  address2: string;
  city: string;
  state: string;
  country: string;
  zip: string;
}

export interface User {
  name: { first_name: string; last_name: string };
  address: Address;
  email: string;
  payment_methods: Record<string, PaymentMethod>;
  orders: string[];
}

export type Options = Record<string, string>;

export interface Variant {
  item_id: string;
  options: Options;
  available: boolean;
  price: Dollars;
}

export interface Product {
  name: string;
  product_id: string;
  variants: Record<string, Variant>;
}

export type OrderStatus =
  | 'pending'
  | 'processed'
  | 'delivered'
  | 'cancelled'
  | 'pending (item modified)'
  | 'return requested'
  | 'exchange requested';

export interface Item {
  name: string;
  product_id: string;
  item_id: string;
  price: Dollars;
  options: Options;
}

export interface PaymentEntry {
  transaction_type: 'payment' | 'refund';
  amount: Dollars;
  payment_method_id: string;
}

export interface Order {
  order_id: string;
  user_id: string;
  address: Address;
  items: Item[];
  fulfillments: { tracking_id: string[]; item_ids: string[] }[];
  status: OrderStatus;
  payment_history: PaymentEntry[];
  cancel_reason?: string | undefined;
  exchange_items?: string[] | undefined;
  exchange_new_items?: string[] | undefined;
  exchange_payment_method_id?: string | undefined;
  exchange_price_difference?: Dollars | undefined;
  return_items?: string[] | undefined;
  return_payment_method_id?: string | undefined;
}

/** A payment method at the time when a call names it. It has no source if the profile lacks it. */
export interface NamedMethod {
  id: string;
  source?: PaymentSource | undefined;
  /** Of a gift card, before anything was charged. */
  balance?: Dollars | undefined;
}

/** A variant as the shop offered it. */
export interface Offer extends Variant {
  product_id: string;
}

/** An item of an order, and its intended replacement. */
export interface Swap {
  item: Pick<Item, 'item_id' | 'product_id' | 'price' | 'options'>;
  offer: Offer;
}

interface SwapEvent {
  /** The order's status, and the ids of its items, before. */
  status: OrderStatus;
  items: string[];
  swaps: Swap[];
  method: NamedMethod;
  /** New prices less old ones. */
  difference: Dollars;
}

/** `/events/{user}/{order}/-`: one change of an order, with the facts it is checked on. */
export type OrderEvent =
  | { kind: 'cancellation'; status: OrderStatus; reason: string }
  | { kind: 'address'; status: OrderStatus }
  | {
      kind: 'payment';
      status: OrderStatus;
      /** All that had been paid or paid back until then. */
      payments: PaymentEntry[];
      method: NamedMethod;
      amount: Dollars;
    }
  | ({ kind: 'items' } & SwapEvent)
  | ({ kind: 'exchange' } & SwapEvent)
  | {
      kind: 'return';
      status: OrderStatus;
      items: string[];
      returned: string[];
      method: NamedMethod;
      /** The payments of the order. */
      original: string;
    };

export interface RetailState {
  users: Record<string, User>;
  products: Record<string, Product>;
  /** By user, then by order. */
  orders: Record<string, Record<string, Order>>;
  /** By user, then by order. */
  events: Record<string, Record<string, OrderEvent[]>>;
}

/** The three files of the benchmark's database. */
export interface RetailRecords {
  users: Record<string, User>;
  products: Record<string, Product>;
  orders: Record<string, Order>;
}

/** Ids become keys and parts of pointers: without `/` and `~` they need no escaping. */
const id: z.ZodString = z.string().regex(/^[^/~]+$/);
const dollars: z.ZodNumber = z.number();

/** The members of an address. Two tools take them beside an id. */
export const addressShape = {
  address1: z.string(),
  address2: z.string(),
  city: z.string(),
  state: z.string(),
  country: z.string(),
  zip: z.string(),
};
const address: z.ZodType<Address> = z.strictObject(addressShape);

const paymentMethod: z.ZodType<PaymentMethod> = z.union([
  z.strictObject({
    id,
    source: z.literal('credit_card'),
    brand: z.string(),
    last_four: z.string(),
  }),
  z.strictObject({ id, source: z.literal('paypal') }),
  z.strictObject({ id, source: z.literal('gift_card'), balance: dollars }),
]);

export const user: z.ZodType<User> = z.strictObject({
  name: z.strictObject({ first_name: z.string(), last_name: z.string() }),
  address,
  email: z.string(),
  payment_methods: z.record(id, paymentMethod),
  orders: z.array(id),
});

const options: z.ZodType<Options> = z.record(z.string(), z.string());

const variantShape = { item_id: id, options, available: z.boolean(), price: dollars };

export const product: z.ZodType<Product> = z.strictObject({
  name: z.string(),
  product_id: id,
  variants: z.record(id, z.strictObject(variantShape)),
});

const status: z.ZodType<OrderStatus> = z.enum([
  'pending',
  'processed',
  'delivered',
  'cancelled',
  'pending (item modified)',
  'return requested',
  'exchange requested',
]);

const paymentEntry: z.ZodType<PaymentEntry> = z.strictObject({
  transaction_type: z.enum(['payment', 'refund']),
  amount: dollars,
  payment_method_id: id,
});

export const order: z.ZodType<Order> = z.strictObject({
  order_id: id,
  user_id: id,
  address,
  items: z.array(
    z.strictObject({ name: z.string(), product_id: id, item_id: id, price: dollars, options }),
  ),
  fulfillments: z.array(
    z.strictObject({ tracking_id: z.array(z.string()), item_ids: z.array(id) }),
  ),
  status,
  payment_history: z.array(paymentEntry),
  cancel_reason: z.string().optional(),
  exchange_items: z.array(id).optional(),
  exchange_new_items: z.array(id).optional(),
  exchange_payment_method_id: id.optional(),
  exchange_price_difference: dollars.optional(),
  return_items: z.array(id).optional(),
  return_payment_method_id: id.optional(),
});

const method: z.ZodType<NamedMethod> = z.strictObject({
  id,
  source: z.enum(['credit_card', 'paypal', 'gift_card']).optional(),
  balance: dollars.optional(),
});

const swap: z.ZodType<Swap> = z.strictObject({
  item: z.strictObject({ item_id: id, product_id: id, price: dollars, options }),
  offer: z.strictObject({ ...variantShape, product_id: id }),
});

const swapShape = { status, items: z.array(id), swaps: z.array(swap), method, difference: dollars };

const event: z.ZodType<OrderEvent> = z.union([
  z.strictObject({ kind: z.literal('cancellation'), status, reason: z.string() }),
  z.strictObject({ kind: z.literal('address'), status }),
  z.strictObject({
    kind: z.literal('payment'),
    status,
    payments: z.array(paymentEntry),
    method,
    amount: dollars,
  }),
  z.strictObject({ kind: z.literal('items'), ...swapShape }),
  z.strictObject({ kind: z.literal('exchange'), ...swapShape }),
  z.strictObject({
    kind: z.literal('return'),
    status,
    items: z.array(id),
    returned: z.array(id),
    method,
    original: id,
  }),
]);

const shared = { users: z.record(id, user), products: z.record(id, product) };

export const retailRecords: z.ZodType<RetailRecords> = z.strictObject({
  ...shared,
  orders: z.record(id, order),
});

export const retailState: z.ZodType<RetailState> = z.strictObject({
  ...shared,
  orders: z.record(id, z.record(id, order)),
  events: z.record(id, z.record(id, z.array(event))),
});
