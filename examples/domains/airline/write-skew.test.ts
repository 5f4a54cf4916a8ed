import { expect, test } from 'vitest';
import { type SlicedAgent, skewOf } from '../../../tests/support/models/write-skew.ts';
import { airline } from './index.ts';
import { DAY, smallWorld } from './testing/small-world.ts';

const AT = '2024-05-15T20:00:00.000000Z';

// One role performs all actions, and its slice has every value that the tools read. An agent does
// not see the concurrent changes of the other agent.

const role = { name: 'agent', params: {} };

/**
 * An agent for a passenger of `R`: it raises the total of bags to `wanted` and pays for the bags
 * that are not free.
 */
const baggage = (wanted: number): SlicedAgent => ({
  role,
  decide: ({ reservations: { R }, users }) => {
    const free = users.ann.membership === 'regular' ? 1 : 2;
    const args = { total_baggages: wanted, nonfree_baggages: Math.max(0, wanted - free) };
    return R.total_baggages < wanted
      ? {
          action: 'update_reservation_baggages',
          args: { reservation_id: 'R', payment_id: 'card', ...args },
        }
      : undefined;
  },
});

/** Cancels `R`. It may do so only because the cabin is business. */
const cancelling: SlicedAgent = {
  role,
  decide: ({ reservations: { R }, itineraries }) =>
    (itineraries?.R?.at(-1)?.cabin ?? R.cabin) === 'business'
      ? { action: 'cancel_reservation', args: { reservation_id: 'R' } }
      : undefined,
};

/** Takes a passenger of `R`, while it is not cancelled, to the cheaper cabin. */
const downgrading: SlicedAgent = {
  role,
  decide: ({ reservations: { R } }) => {
    const flights = R.flights.map(({ flight_number }: any) => ({ flight_number, date: DAY }));
    return R.status === undefined
      ? {
          action: 'update_reservation_flights',
          args: { reservation_id: 'R', cabin: 'economy', flights, payment_id: 'card' },
        }
      : undefined;
  },
};

test('one agent cancels a business booking while another makes it economy', () => {
  const business = smallWorld(({ reservations: { R } }) => {
    if (R === undefined) return;
    R.cabin = 'business';
    for (const segment of R.flights) segment.price = 300;
    R.payment_history = [{ payment_id: 'card', amount: 600 }];
  });
  expect(skewOf(airline, business, AT, [cancelling, downgrading])).toEqual({
    alone: [[], []],
    // Either a cancelled booking is changed, or the booking is cancelled after it has become
    // economy, uninsured and two weeks old.
    withoutKernel: [
      ['CANCELLED_NOT_CHANGED', 'CANCELLATION_REFUND'],
      ['CANCELLATION_GROUND', 'INSURED_CANCELLATION_REASON'],
    ],
    withKernel: [
      ['approved', 'CANCELLED_NOT_CHANGED'],
      ['approved', 'CANCELLATION_GROUND'],
    ],
    broken: [],
  });
});

test('two agents add bags, each rightly by its slice; together they remove one', () => {
  expect(skewOf(airline, smallWorld(), AT, [baggage(4), baggage(3)])).toEqual({
    alone: [[], []],
    // The second write replaces the first. Only the smaller number after the greater number takes a
    // bag away.
    withoutKernel: [['BAGS_NOT_REMOVED'], []],
    withKernel: [
      ['approved', 'BAGS_NOT_REMOVED'],
      ['approved', 'approved'],
    ],
    broken: [],
  });
});
