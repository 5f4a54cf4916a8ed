/** policy.md, Book flight. */
import { type Invariant, pass, type Rules, reject } from 'assize/internal/kernel';
import type { AirlineState, PaymentSource } from '../schema.ts';
import { routeFault, tripTypeFault } from '../trip.ts';

const PASSENGERS_MAX = 5;
const METHODS_MAX: Record<PaymentSource, number> = { certificate: 1, credit_card: 1, gift_card: 3 };

export function booking({ each }: Rules<AirlineState>): Invariant<AirlineState>[] {
  return [
    each('BOOKING_PASSENGERS_MAX', '/reservations/*', {}, ({ passengers }) =>
      passengers.length <= PASSENGERS_MAX
        ? pass
        : reject(`${passengers.length} passengers; a reservation takes at most ${PASSENGERS_MAX}`),
    ),

    each('BOOKING_PAYMENT_MIX', '/booked/*', {}, ({ payments }) => {
      const used = (source: PaymentSource) =>
        new Set(
          payments
            .filter((payment) => payment.source === source)
            .map(({ payment_id }) => payment_id),
        ).size;
      const over = (Object.keys(METHODS_MAX) as PaymentSource[]).find(
        (source) => used(source) > METHODS_MAX[source],
      );
      return over === undefined
        ? pass
        : reject(
            `paid with ${used(over)} of ${over}; a reservation takes at most ${METHODS_MAX[over]}`,
          );
    }),

    // Not a sentence of the policy. The tool only adds up: a negative payment would move money
    // between methods.
    each('BOOKING_PAYMENTS_POSITIVE', '/booked/*', {}, ({ payments }) => {
      const wrong = payments.find(({ amount }) => amount <= 0);
      return wrong === undefined
        ? pass
        : reject(`${wrong.payment_id} pays ${wrong.amount}; a payment must be more than 0`);
    }),

    // Not a sentence of the policy either. The tool checks each payment independently, so one gift
    // card named twice could be overdrawn.
    each('GIFT_CARD_COVERED', '/users/*/payment_methods/*', {}, (method) =>
      method.source === 'credit_card' || method.amount >= 0
        ? pass
        : reject(`${method.id} would be left with ${method.amount}`),
    ),

    each('BOOKING_IS_THE_TRIP', '/itineraries/*/*', {}, (row) => {
      const fault = row.before
        ? undefined
        : (routeFault(row, row.segments) ?? tripTypeFault(row, row.segments));
      return fault === undefined ? pass : reject(fault);
    }),
  ];
}
