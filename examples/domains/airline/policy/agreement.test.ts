import { describe, expect, test } from 'vitest';
import type { AirlineState } from '../schema.ts';
import { attempt, judge } from '../testing/naive-world.ts';
import { bookingArgs, DAY, passengers, setStatus, smallWorld } from '../testing/small-world.ts';

function done(state: AirlineState, name: string, args: Record<string, unknown>): AirlineState {
  const outcome = attempt(state, name, args);
  if (outcome.outcome === 'tool_error') throw new Error(outcome.detail);
  return outcome.state;
}

/** Expects a pass before the edit and the invariant after it. */
function breaks(state: AirlineState, invariant: string, edit: (state: AirlineState) => void): void {
  const before = judge(state);
  expect(['pass', 'escalate']).toContain(before.outcome);
  edit(state);
  expect(judge(state)).toMatchObject({ outcome: 'reject', invariant });
}

const booked = () => done(smallWorld(), 'book_reservation', bookingArgs());
const flights = [{ flight_number: 'AC', date: DAY }];
const rebooking = { reservation_id: 'R', cabin: 'economy', flights, payment_id: 'card' };
const rebooked = () => done(smallWorld(), 'update_reservation_flights', rebooking);

describe('BOOKING_ON_RECORD', () => {
  test('the booking user owns the reservation', () => {
    breaks(booked(), 'BOOKING_ON_RECORD', (state) => state.users['ann']!.reservations.pop());
  });

  test('the time of booking stays', () => {
    breaks(booked(), 'BOOKING_ON_RECORD', (state) => {
      state.reservations['HATHAT']!.created_at = '2024-05-15T16:00:00';
    });
  });
});

describe('ITINERARY_ON_RECORD', () => {
  test('flights change by way of a row only', () => {
    breaks(rebooked(), 'ITINERARY_ON_RECORD', (state) => {
      state.reservations['R']!.flights[0]!.date = '2024-05-21';
    });
  });

  test('the destination stays', () => {
    breaks(rebooked(), 'ITINERARY_ON_RECORD', (state) => {
      state.reservations['R']!.destination = 'BBB';
    });
  });

  test('the first row starts in the cabin that was booked', () => {
    breaks(rebooked(), 'ITINERARY_ON_RECORD', (state) => {
      state.itineraries['R']![0]!.before!.cabin = 'business';
      state.itineraries['R']![0]!.cabin = 'business';
      for (const segment of state.itineraries['R']![0]!.segments) segment.listed = segment.price;
    });
  });

  test('each row starts where the one before it ended', () => {
    const twice = done(rebooked(), 'update_reservation_flights', {
      ...rebooking,
      flights: ['AB', 'BC'].map((flight_number) => ({ flight_number, date: DAY })),
    });
    breaks(twice, 'ITINERARY_ON_RECORD', (state) => {
      delete state.itineraries['R']![1]!.before;
    });
  });
});

test('BAGS_ON_RECORD: bags change by way of a row only', () => {
  const args = { reservation_id: 'R', total_baggages: 2, nonfree_baggages: 1, payment_id: 'card' };
  breaks(done(smallWorld(), 'update_reservation_baggages', args), 'BAGS_ON_RECORD', (state) => {
    state.reservations['R']!.total_baggages = 3;
  });
});

test('CERTIFICATE_ON_RECORD: the certificate on the profile is the one sent', () => {
  const world = smallWorld((state) => {
    state.users['ann']!.membership = 'gold';
    state.reservations['R']!.passengers = passengers(1);
    setStatus(state, 'BC', 'cancelled');
  });
  const sent = done(world, 'send_certificate', { user_id: 'ann', amount: 100 });
  breaks(sent, 'CERTIFICATE_ON_RECORD', (state) => {
    Object.assign(state.users['ann']!.payment_methods['certificate_3221322']!, { amount: 500 });
  });
});
