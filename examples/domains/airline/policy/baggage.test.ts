import { describe, expect, test } from 'vitest';
import type { AirlineState, Cabin, Membership } from '../schema.ts';
import { attempt } from '../testing/naive-world.ts';
import { DAY, passengers, smallWorld } from '../testing/small-world.ts';

function setBags(
  total_baggages: number,
  nonfree_baggages: number,
  change?: (state: AirlineState) => void,
) {
  const args = { reservation_id: 'R', total_baggages, nonfree_baggages, payment_id: 'card' };
  return attempt(smallWorld(change), 'update_reservation_baggages', args);
}

describe('BAGGAGE_ALLOWANCE', () => {
  const wrong = { outcome: 'reject', invariant: 'BAGGAGE_ALLOWANCE' };

  test('an extra bag is paid for, a free one is not', () => {
    expect(setBags(2, 1)).toMatchObject({ outcome: 'pass' });
    expect(setBags(2, 0)).toMatchObject(wrong);
    expect(setBags(2, 2)).toMatchObject(wrong);
  });

  test.each<[Membership, Cabin, number]>([
    ['regular', 'basic_economy', 0],
    ['regular', 'economy', 1],
    ['regular', 'business', 2],
    ['silver', 'basic_economy', 1],
    ['silver', 'economy', 2],
    ['silver', 'business', 3],
    ['gold', 'basic_economy', 2],
    ['gold', 'economy', 3],
    ['gold', 'business', 3],
  ])('%s in %s: %i for each passenger', (membership, cabin, free) => {
    const change = ({ users, reservations }: AirlineState) => {
      users['ann']!.membership = membership;
      Object.assign(reservations['R']!, { cabin, passengers: passengers(2) });
    };
    expect(setBags(2 * free + 1, 1, change)).toMatchObject({ outcome: 'pass' });
    expect(setBags(2 * free + 1, 0, change)).toMatchObject(wrong);
  });

  test('follows the cabin in force, not the one booked', () => {
    const world = smallWorld();
    const flights = ['AB', 'BC'].map((flight_number) => ({ flight_number, date: DAY }));
    const upgrade = { reservation_id: 'R', cabin: 'business', flights, payment_id: 'card' };
    const upgraded = attempt(world, 'update_reservation_flights', upgrade);
    if (upgraded.outcome === 'tool_error') throw new Error(upgraded.detail);
    expect(upgraded.state.reservations['R']!.cabin).toBe('economy');
    const bags = (nonfree_baggages: number) => {
      const args = { reservation_id: 'R', total_baggages: 2, nonfree_baggages, payment_id: 'card' };
      return attempt(upgraded.state, 'update_reservation_baggages', args);
    };
    expect(bags(0)).toMatchObject({ outcome: 'pass' });
    expect(bags(1)).toMatchObject(wrong);
  });

  test('bags paid for earlier may stay paid, and no further bags', () => {
    const paid = ({ reservations }: AirlineState) =>
      Object.assign(reservations['R']!, { nonfree_baggages: 1 });
    expect(setBags(1, 1, paid)).toMatchObject({ outcome: 'pass' });
    expect(setBags(1, 0, paid)).toMatchObject({ outcome: 'pass' });
    expect(setBags(1, 2, paid)).toMatchObject(wrong);
  });
});

test('BAGS_NOT_REMOVED: as many as before, not fewer', () => {
  expect(setBags(1, 0)).toMatchObject({ outcome: 'pass' });
  expect(setBags(0, 0)).toMatchObject({ outcome: 'reject', invariant: 'BAGS_NOT_REMOVED' });
});
