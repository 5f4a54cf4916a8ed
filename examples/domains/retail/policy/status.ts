/** policy.md: which orders an action is for, and that some can be taken once. */
import { type Invariant, pass, type Rules, reject } from 'assize/internal/kernel';
import { isReason } from '../reasons.ts';
import type { OrderEvent, OrderStatus, RetailState } from '../schema.ts';

/**
 * The statuses of a pending order. Its items may be modified already; ITEMS_MODIFIED_IS_FINAL
 * checks that.
 */
const PENDING: readonly OrderStatus[] = ['pending', 'pending (item modified)'];
/**
 * The statuses of a delivered order. A return or exchange may be requested already;
 * RETURN_OR_EXCHANGE_ONCE checks that.
 */
const DELIVERED: readonly OrderStatus[] = ['delivered', 'return requested', 'exchange requested'];

const MODIFIES: readonly OrderEvent['kind'][] = ['address', 'payment', 'items'];

export function statuses({ each }: Rules<RetailState>): Invariant<RetailState>[] {
  return [
    each('CANCELLED_WHEN_PENDING', '/events/*/*/*', {}, ({ kind, status }) =>
      kind !== 'cancellation' || PENDING.includes(status)
        ? pass
        : reject(`a ${status} order cannot be cancelled`),
    ),

    each('MODIFIED_WHEN_PENDING', '/events/*/*/*', {}, ({ kind, status }) =>
      !MODIFIES.includes(kind) || PENDING.includes(status)
        ? pass
        : reject(`a ${status} order cannot be modified`),
    ),

    each('RETURNED_WHEN_DELIVERED', '/events/*/*/*', {}, ({ kind, status }) =>
      kind !== 'return' || DELIVERED.includes(status)
        ? pass
        : reject(`a ${status} order cannot be returned`),
    ),

    each('EXCHANGED_WHEN_DELIVERED', '/events/*/*/*', {}, ({ kind, status }) =>
      kind !== 'exchange' || DELIVERED.includes(status)
        ? pass
        : reject(`a ${status} order cannot be exchanged`),
    ),

    each('ITEMS_MODIFIED_IS_FINAL', '/events/*/*/*', {}, ({ kind, status }) =>
      (kind === 'cancellation' || MODIFIES.includes(kind)) && status === 'pending (item modified)'
        ? reject('the items of the order were modified; it can no longer be modified or cancelled')
        : pass,
    ),

    each('RETURN_OR_EXCHANGE_ONCE', '/events/*/*/*', {}, ({ kind, status }) =>
      (kind === 'return' || kind === 'exchange') &&
      (status === 'return requested' || status === 'exchange requested')
        ? reject(`the order's status is ${status}; items can be returned or exchanged once`)
        : pass,
    ),

    each('CANCELLATION_REASON', '/events/*/*/*', {}, (event) =>
      event.kind !== 'cancellation' || isReason(event.reason)
        ? pass
        : reject(
            `${event.reason} is not a valid reason; use "no longer needed" or "ordered by mistake"`,
          ),
    ),
  ];
}
