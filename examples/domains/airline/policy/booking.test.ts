import { describe, expect, test } from 'vitest';
import { attempt } from '../testing/naive-world.ts';
import { bookingArgs, DAY, passengers, smallWorld } from '../testing/small-world.ts';

function book(change: Record<string, unknown> = {}) {
  return attempt(smallWorld(), 'book_reservation', bookingArgs(change));
}

function flights(...numbers: string[]) {
  return numbers.map((flight_number) => ({ flight_number, date: DAY }));
}

describe('a booking', () => {
  test('in order passes', () => {
    expect(book()).toMatchObject({ outcome: 'pass' });
  });

  test('BOOKING_PASSENGERS_MAX: five, not six', () => {
    const of = (count: number) =>
      book({
        passengers: passengers(count),
        payment_methods: [{ payment_id: 'card', amount: 100 * count }],
      });
    expect(of(5)).toMatchObject({ outcome: 'pass' });
    expect(of(6)).toMatchObject({ outcome: 'reject', invariant: 'BOOKING_PASSENGERS_MAX' });
  });

  test('BOOKING_PAYMENT_MIX: one certificate and one card, not two of either', () => {
    const paid = (...payments: [string, number][]) =>
      book({ payment_methods: payments.map(([payment_id, amount]) => ({ payment_id, amount })) });
    expect(paid(['voucher', 50], ['gift', 25], ['card', 25])).toMatchObject({ outcome: 'pass' });
    expect(paid(['voucher', 50], ['voucher2', 50])).toMatchObject({
      invariant: 'BOOKING_PAYMENT_MIX',
    });
    expect(paid(['card', 50], ['card2', 50])).toMatchObject({ invariant: 'BOOKING_PAYMENT_MIX' });
  });

  test('BOOKING_PAYMENT_MIX: three gift cards, not four', () => {
    const paid = (count: number) => {
      const ids = Array.from({ length: count }, (_, i) => `gift${i}`);
      const world = smallWorld(({ users }) => {
        for (const id of ids)
          users['ann']!.payment_methods[id] = { id, source: 'gift_card', amount: 60 };
      });
      const rest = 100 - 60 - 10 * (count - 2);
      const amounts = ids.map((_, i) => (i === 0 ? 60 : i === 1 ? rest : 10));
      const payment_methods = ids.map((payment_id, i) => ({ payment_id, amount: amounts[i] }));
      return attempt(world, 'book_reservation', bookingArgs({ payment_methods }));
    };
    expect(paid(3)).toMatchObject({ outcome: 'pass' });
    expect(paid(4)).toMatchObject({ outcome: 'reject', invariant: 'BOOKING_PAYMENT_MIX' });
  });

  test('BOOKING_PAYMENTS_POSITIVE: no payment gives money back', () => {
    const payment_methods = [
      { payment_id: 'card', amount: 101 },
      { payment_id: 'gift', amount: -1 },
    ];
    expect(book({ payment_methods })).toMatchObject({
      outcome: 'reject',
      invariant: 'BOOKING_PAYMENTS_POSITIVE',
    });
  });

  test('GIFT_CARD_COVERED: one gift card named twice is still one gift card', () => {
    const twice = (balance: number) => {
      const world = smallWorld(({ users }) => {
        users['ann']!.payment_methods['gift'] = {
          id: 'gift',
          source: 'gift_card',
          amount: balance,
        };
      });
      const half = { payment_id: 'gift', amount: 50 };
      return attempt(world, 'book_reservation', bookingArgs({ payment_methods: [half, half] }));
    };
    expect(twice(100)).toMatchObject({ outcome: 'pass' });
    expect(twice(99)).toMatchObject({ outcome: 'reject', invariant: 'GIFT_CARD_COVERED' });
  });

  test('BOOKING_IS_THE_TRIP: the flights go where the record says', () => {
    const both = { payment_methods: [{ payment_id: 'card', amount: 200 }] };
    expect(book({ flights: flights('AB', 'BC'), ...both })).toMatchObject({ outcome: 'pass' });
    expect(
      book({ flight_type: 'round_trip', flights: flights('AC', 'CA'), ...both }),
    ).toMatchObject({
      outcome: 'pass',
    });
    const wrong = { outcome: 'reject', invariant: 'BOOKING_IS_THE_TRIP' };
    expect(book({ flight_type: 'round_trip' })).toMatchObject(wrong);
    expect(book({ flights: flights('AC', 'CA'), ...both })).toMatchObject(wrong);
    expect(book({ flights: flights('AD') })).toMatchObject(wrong);
    expect(book({ origin: 'BBB' })).toMatchObject(wrong);
    expect(book({ flights: flights('AD', 'BC'), ...both })).toMatchObject(wrong);
  });

  test('a certificate is gone whole, a gift card by its part', () => {
    const payment_methods = [
      { payment_id: 'voucher', amount: 50 },
      { payment_id: 'gift', amount: 50 },
    ];
    const booked = book({ payment_methods });
    if (booked.outcome === 'tool_error') throw new Error(booked.detail);
    const methods = booked.state.users['ann']!.payment_methods;
    expect(methods['voucher']).toBeUndefined();
    expect(methods['gift']).toMatchObject({ amount: 450 });
  });
});
