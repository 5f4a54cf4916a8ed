/** policy.md: the payment methods of charges and refunds. */
import { type Invariant, pass, type Rules, reject } from 'assize/internal/kernel';
import { cents } from '../cents.ts';
import type { Order, OrderEvent, PaymentEntry, RetailState } from '../schema.ts';

export function payment({ each, sum }: Rules<RetailState>): Invariant<RetailState>[] {
  return [
    each('PAYMENT_METHOD_IN_PROFILE', '/events/*/*/*', {}, (event, _, [user]) =>
      'method' in event && event.method.source === undefined
        ? reject(`${user} has no payment method ${event.method.id}`)
        : pass,
    ),

    each('PAYMENT_METHOD_DIFFERS', '/events/*/*/*', {}, (event) =>
      event.kind === 'payment' && event.payments[0]?.payment_method_id === event.method.id
        ? reject(`the order is paid with ${event.method.id} already`)
        : pass,
    ),

    each('ONE_PAYMENT_REPLACED', '/events/*/*/*', {}, (event) =>
      event.kind === 'payment' &&
      (event.payments.length !== 1 || event.payments[0]?.transaction_type !== 'payment')
        ? reject('only an order with a single payment can change its payment method')
        : pass,
    ),

    each('GIFT_CARD_COVERS', '/events/*/*/*', {}, (event) => {
      const due = amountDue(event);
      if (!('method' in event) || event.method.source !== 'gift_card' || due === 0) return pass;
      const balance = cents(event.method.balance ?? 0);
      return due <= balance
        ? pass
        : reject(`${event.method.id} has ${balance} cents, and ${due} are due`);
    }),

    // An exchange takes no money until it is made, so one balance could be promised to several
    // orders.
    sum(
      'GIFT_CARD_COVERS_PROMISES',
      '/events/*/*/*',
      {
        // The group is the card's place.
        per: (event, [user]) =>
          event.kind === 'exchange' && event.method.source === 'gift_card'
            ? `${user}/payment_methods/${event.method.id}`
            : undefined,
        of: amountDue,
        reads: ['/users/*/payment_methods'],
        with: (card) => ({ card: `/users/${card}` as '/users/{user}/payment_methods/{card}' }),
      },
      (promised, { card }) => {
        const balance = card?.source === 'gift_card' ? cents(card.balance) : 0;
        return promised <= balance
          ? pass
          : reject(`${balance} cents are left, and ${promised} promised to exchanges`);
      },
    ),

    each('REFUND_TO_ORIGINAL_OR_GIFT_CARD', '/events/*/*/*', {}, (event) =>
      event.kind !== 'return' ||
      event.method.source === 'gift_card' ||
      event.method.id === event.original
        ? pass
        : reject(`refunds go to ${event.original} or a gift card, not to ${event.method.id}`),
    ),

    each('CANCELLATION_REFUND', '/orders/*/*', {}, ({ status, payment_history }) => {
      if (status !== 'cancelled') return pass;
      const wrong = [...paidBy(payment_history)].find(([, paid]) => paid !== 0);
      return wrong === undefined
        ? pass
        : reject(
            `a cancellation pays back to each method what it paid; ${wrong[0]} is off by ${wrong[1]} cents`,
          );
    }),

    each('ORDER_IS_PAID', '/orders/*/*', {}, (order) => {
      if (order.status === 'cancelled') return pass;
      const paid = [...paidBy(order.payment_history).values()].reduce(
        (all, amount) => all + amount,
        0,
      );
      const price = priceOf(order);
      return paid === price ? pass : reject(`${paid} cents are paid for items of ${price}`);
    }),
  ];
}

/** The amount that the named method must pay, in cents. A refund requires no amount. */
function amountDue(event: OrderEvent): number {
  if (event.kind === 'payment') return cents(event.amount);
  return 'difference' in event ? Math.max(0, cents(event.difference)) : 0;
}

/** Cents that each method paid and did not get back. */
function paidBy(history: readonly PaymentEntry[]): Map<string, number> {
  const paid = new Map<string, number>();
  for (const { transaction_type, amount, payment_method_id } of history) {
    const signed = transaction_type === 'payment' ? cents(amount) : -cents(amount);
    paid.set(payment_method_id, (paid.get(payment_method_id) ?? 0) + signed);
  }
  return paid;
}

function priceOf({ items }: Order): number {
  return items.reduce((all, { price }) => all + cents(price), 0);
}
