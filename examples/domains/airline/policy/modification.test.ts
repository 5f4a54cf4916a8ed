import { describe, expect, test } from 'vitest';
import type { AirlineState, Cabin } from '../schema.ts';
import { attempt, judge } from '../testing/naive-world.ts';
import { bookingArgs, DAY, segment, smallWorld } from '../testing/small-world.ts';

function change(world: AirlineState, cabin: Cabin, ...numbers: string[]) {
  const flights = numbers.map((flight_number) => ({ flight_number, date: DAY }));
  return attempt(world, 'update_reservation_flights', {
    reservation_id: 'R',
    cabin,
    flights,
    payment_id: 'card',
  });
}

function after(outcome: ReturnType<typeof attempt>): AirlineState {
  if (outcome.outcome === 'tool_error') throw new Error(outcome.detail);
  return outcome.state;
}

const basic = ({ reservations }: AirlineState) => {
  reservations['R']!.cabin = 'basic_economy';
};

describe('BASIC_ECONOMY_NOT_CHANGED', () => {
  const wrong = { outcome: 'reject', invariant: 'BASIC_ECONOMY_NOT_CHANGED' };

  test('the cabin may change, the flights may not, nor both together', () => {
    expect(change(smallWorld(basic), 'economy', 'AB', 'BC')).toMatchObject({ outcome: 'pass' });
    expect(change(smallWorld(basic), 'basic_economy', 'AC')).toMatchObject(wrong);
    expect(change(smallWorld(basic), 'economy', 'AC')).toMatchObject(wrong);
  });

  test('after the upgrade the flights may change', () => {
    const upgraded = after(change(smallWorld(basic), 'economy', 'AB', 'BC'));
    expect(change(upgraded, 'economy', 'AC')).toMatchObject({ outcome: 'pass' });
  });

  test('economy flights may change', () => {
    expect(change(smallWorld(), 'economy', 'AC')).toMatchObject({ outcome: 'pass' });
  });
});

describe('ROUTE_KEPT', () => {
  const wrong = { outcome: 'reject', invariant: 'ROUTE_KEPT' };

  test('another way to the same place, not another place', () => {
    expect(change(smallWorld(), 'economy', 'AC')).toMatchObject({ outcome: 'pass' });
    expect(change(smallWorld(), 'economy', 'AD')).toMatchObject(wrong);
    expect(change(smallWorld(), 'economy', 'BC')).toMatchObject(wrong);
  });

  test('one flight after the other, and at least one', () => {
    expect(change(smallWorld(), 'economy', 'AD', 'BC')).toMatchObject(wrong);
    expect(change(smallWorld(), 'economy')).toMatchObject(wrong);
  });
});

describe('TRIP_TYPE_KEPT', () => {
  const wrong = { outcome: 'reject', invariant: 'TRIP_TYPE_KEPT' };
  const round = ({ reservations }: AirlineState) =>
    Object.assign(reservations['R']!, {
      flight_type: 'round_trip',
      flights: [segment('AC'), segment('CA')],
    });

  test('a one-way trip does not come back', () => {
    expect(change(smallWorld(), 'economy', 'AC', 'CA')).toMatchObject(wrong);
  });

  test('a round trip does', () => {
    expect(change(smallWorld(round), 'economy', 'AB', 'BC', 'CA')).toMatchObject({
      outcome: 'pass',
    });
    expect(change(smallWorld(round), 'economy', 'AC')).toMatchObject(wrong);
  });
});

test('KEPT_PRICE: a kept flight keeps its price, even after a cabin change', () => {
  const basicAt = (price: number) =>
    smallWorld((state) => {
      basic(state);
      const day = state.flights['AB']!.dates[DAY]!;
      if (day.status === 'available') day.prices.economy = price;
    });
  const upgraded = after(change(basicAt(100), 'economy', 'AB', 'BC'));
  expect(change(upgraded, 'economy', 'AB', 'BC')).toMatchObject({ outcome: 'pass' });
  // The tool prices it again, because the record still says basic economy.
  upgraded.flights = basicAt(101).flights;
  expect(change(upgraded, 'economy', 'AB', 'BC')).toMatchObject({
    outcome: 'reject',
    invariant: 'KEPT_PRICE',
  });
});

test('CABIN_DIFFERENCE_PAID: down and up again costs the difference both ways', () => {
  const world = smallWorld(({ reservations }) => {
    Object.assign(reservations['R']!, {
      cabin: 'business',
      flights: [segment('AB', 300), segment('BC', 300)],
    });
  });
  const down = change(world, 'economy', 'AB', 'BC');
  expect(down).toMatchObject({ outcome: 'pass' });
  // The tool takes this for no change at all, because the record still says business.
  const up = change(after(down), 'business', 'AB', 'BC');
  expect(up).toMatchObject({ outcome: 'reject', invariant: 'CABIN_DIFFERENCE_PAID' });
  expect(after(up).reservations['R']!.payment_history.at(-1)).toEqual({
    payment_id: 'card',
    amount: -400,
  });
});

describe('the properties that are fixed at booking', () => {
  const booked = () => after(attempt(smallWorld(), 'book_reservation', bookingArgs()));

  test('INSURANCE_NOT_ADDED', () => {
    const state = booked();
    expect(judge(state)).toMatchObject({ outcome: 'pass' });
    state.reservations['HATHAT']!.insurance = 'yes';
    expect(judge(state)).toMatchObject({ outcome: 'reject', invariant: 'INSURANCE_NOT_ADDED' });
  });

  test('PASSENGER_COUNT_KEPT', () => {
    const state = booked();
    state.reservations['HATHAT']!.passengers.push({
      first_name: 'Bo',
      last_name: 'Lee',
      dob: '1990-01-01',
    });
    expect(judge(state)).toMatchObject({ outcome: 'reject', invariant: 'PASSENGER_COUNT_KEPT' });
  });

  test('the tool refuses another number of passengers, and takes another name', () => {
    const rename = (...names: string[]) => {
      const passengers = names.map((first_name) => ({
        first_name,
        last_name: 'Lee',
        dob: '1990-01-01',
      }));
      return attempt(smallWorld(), 'update_reservation_passengers', {
        reservation_id: 'R',
        passengers,
      });
    };
    expect(rename('Bo')).toMatchObject({ outcome: 'pass' });
    expect(rename('Bo', 'Cy')).toMatchObject({
      outcome: 'tool_error',
      detail: 'number of passengers does not match',
    });
  });
});
