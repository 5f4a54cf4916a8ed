/**
 * Event rows and the benchmark's records agree. Otherwise a rule over rows would have no effect on
 * records.
 */
import { type Invariant, pass, type Rules, reject } from 'assize/internal/kernel';
import { cents } from '../cents.ts';
import type { Order, OrderEvent, OrderStatus, RetailState } from '../schema.ts';

export function agreement({ each }: Rules<RetailState>): Invariant<RetailState>[] {
  return [
    each('ORDER_OF_ITS_USER', '/orders/*/*', {}, ({ user_id, order_id }, _, [user, id]) =>
      user_id === user && order_id === id
        ? pass
        : reject(`the order ${order_id} of ${user_id} is stored under ${user}`),
    ),

    each('DIFFERENCE_OF_PRICES', '/events/*/*/*', {}, (event) => {
      if (!('swaps' in event)) return pass;
      const due = event.swaps.reduce(
        (all, { item, offer }) => all + cents(offer.price) - cents(item.price),
        0,
      );
      return cents(event.difference) === due ? pass : reject(`the difference is ${due} cents`);
    }),

    each(
      'EVENTS_ON_RECORD',
      '/events/*/*',
      { reads: ['/orders/*/*'], with: (_, [user, id]) => ({ order: `/orders/${user}/${id}` }) },
      (events, { order }, [, id]) =>
        order !== undefined &&
        events.every(
          ({ status }, i) => i === 0 || status === statusAfter(events[i - 1] as OrderEvent),
        ) &&
        events
          .slice(-1)
          .every((last) => statusAfter(last) === order.status && standsIn(order, last))
          ? pass
          : reject(`the events of ${id} and its record disagree`),
    ),
  ];
}

function statusAfter({ kind, status }: OrderEvent): OrderStatus {
  switch (kind) {
    case 'cancellation':
      return 'cancelled';
    case 'items':
      return 'pending (item modified)';
    case 'return':
      return 'return requested';
    case 'exchange':
      return 'exchange requested';
    default:
      return status;
  }
}

/** Whether the record is as the event left it. */
function standsIn(order: Order, event: OrderEvent): boolean {
  switch (event.kind) {
    case 'cancellation':
      return order.cancel_reason === event.reason;
    case 'items':
      return sameIds(idsOf(order.items), replaced(event.items, event.swaps));
    case 'return':
      return (
        sameIds(order.return_items, event.returned) &&
        order.return_payment_method_id === event.method.id
      );
    case 'exchange':
      return (
        sameIds(
          order.exchange_items,
          event.swaps.map(({ item }) => item.item_id),
        ) &&
        sameIds(
          order.exchange_new_items,
          event.swaps.map(({ offer }) => offer.item_id),
        ) &&
        order.exchange_payment_method_id === event.method.id &&
        order.exchange_price_difference === event.difference
      );
    case 'payment':
      return order.payment_history.length === event.payments.length + 2;
    case 'address':
      return true;
  }
}

function idsOf(items: readonly { item_id: string }[]): string[] {
  return items.map(({ item_id }) => item_id);
}

function replaced(
  ids: readonly string[],
  swaps: Extract<OrderEvent, { kind: 'items' }>['swaps'],
): string[] {
  const left = [...ids];
  for (const { item } of swaps) left.splice(left.indexOf(item.item_id), 1);
  return [...left, ...swaps.map(({ offer }) => offer.item_id)];
}

/** In any order. */
function sameIds(a: readonly string[] | undefined, b: readonly string[]): boolean {
  return a !== undefined && a.toSorted().join(' ') === b.toSorted().join(' ');
}
