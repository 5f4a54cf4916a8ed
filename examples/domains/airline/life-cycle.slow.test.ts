/**
 * A walk over the life of one reservation (seed 000 §2.3). The test checks it against this file's
 * reading of policy.md, without the domain's code.
 */

import {
  domainWithout,
  type LifeCycle,
  type LifeCycleProposal,
  type LifeCycleStep,
  walkLifeCycle,
} from '@assize/testing';
import { canonicalize } from 'assize/internal/canon';
import { describe, expect, test } from 'vitest';
import { airline } from './index.ts';
import type { AirlineState, Cabin } from './schema.ts';
import { bookingArgs, DAY, setStatus, smallWorld } from './testing/small-world.ts';

const role = { name: 'agent', params: {} };
const by = (action: string, args: object): LifeCycleProposal => ({
  action,
  role,
  args: args as LifeCycleProposal['args'],
});
const flights = (...numbers: string[]) =>
  numbers.map((flight_number) => ({ flight_number, date: DAY }));
const CABINS: readonly Cabin[] = ['basic_economy', 'economy', 'business'];

function proposals({ reservations }: AirlineState): LifeCycleProposal[] {
  const of = (reservation_id: string): LifeCycleProposal[] => [
    by('cancel_reservation', { reservation_id }),
    ...CABINS.flatMap((cabin) =>
      [['AB', 'BC'], ['AC'], ['AD']].map((numbers) =>
        by('update_reservation_flights', {
          ...{ reservation_id, cabin, payment_id: 'card' },
          flights: flights(...numbers),
        }),
      ),
    ),
    ...[0, 1, 2].flatMap((total_baggages) =>
      [0, 1].map((nonfree_baggages) =>
        by('update_reservation_baggages', {
          reservation_id,
          total_baggages,
          nonfree_baggages,
          payment_id: 'card',
        }),
      ),
    ),
    ...[[], ['Zoe'], ['Zoe', 'Yan']].map((names) =>
      by('update_reservation_passengers', {
        ...{ reservation_id },
        passengers: names.map((first_name) => ({
          first_name,
          last_name: 'Lee',
          dob: '1990-01-01',
        })),
      }),
    ),
  ];
  return [
    ...of('R'),
    ...[50, 100].map((amount) => by('send_certificate', { user_id: 'ann', amount })),
    ...(Object.keys(reservations).length === 1
      ? [
          by('book_reservation', bookingArgs()),
          by('book_reservation', bookingArgs({ total_baggages: 3 })),
        ]
      : []),
  ];
}

/** The tools never write a changed cabin into the record: it is that of the last change. */
const cabinOf = (state: AirlineState, id: string): Cabin =>
  state.itineraries[id]?.at(-1)?.cabin ?? state.reservations[id]!.cabin;

/**
 * Free bags of a regular member, for each passenger: none in basic economy, one in economy, two in
 * business.
 */
const freeOf = (state: AirlineState, id: string): number =>
  CABINS.indexOf(cabinOf(state, id)) * state.reservations[id]!.passengers.length;

/**
 * The objection of policy.md to a step in this state. Ann is a regular member, and the booking of
 * `R` is two weeks old.
 */
function allowed(
  before: AirlineState,
  { action, args, approvedBy }: LifeCycleStep,
  after: AirlineState,
): string | undefined {
  const given = args as Record<string, any>;
  const id: string =
    given['reservation_id'] ?? Object.keys(after.reservations).find((one) => one !== 'R') ?? 'R';
  const [was, is] = [before.reservations[id], after.reservations[id]!];
  const gone =
    was?.flights.some(({ flight_number }) => statusOf(before, flight_number) === 'cancelled') ??
    false;
  if (
    was?.status === 'cancelled' &&
    action !== 'send_certificate' &&
    canonicalize(was as never) !== canonicalize(is as never)
  )
    return 'it was cancelled, and is nobody’s reservation any more';
  switch (action) {
    case 'cancel_reservation':
      if (
        was!.flights.some(({ flight_number }) =>
          ['flying', 'landed'].includes(statusOf(before, flight_number)),
        )
      )
        return 'a flight has been flown';
      if (cabinOf(before, id) === 'business' || gone) return undefined;
      return was!.insurance === 'yes' && approvedBy !== undefined
        ? undefined
        : 'there is no ground for it';
    case 'update_reservation_flights': {
      const [from, to] = [was!.flights, is.flights];
      if (to[0]?.origin !== 'AAA' || to.at(-1)?.destination !== 'CCC') return 'it leads elsewhere';
      const same =
        from.map((one) => one.flight_number).join() === to.map((one) => one.flight_number).join();
      if (cabinOf(before, id) === 'basic_economy' && !same)
        return 'basic economy flights cannot be modified';
      return is.insurance === was!.insurance ? undefined : 'insurance was added';
    }
    case 'update_reservation_baggages':
      if (is.total_baggages < was!.total_baggages) return 'bags were removed';
      return is.nonfree_baggages >= is.total_baggages - freeOf(after, id)
        ? undefined
        : 'a bag was not paid for';
    case 'update_reservation_passengers':
      return is.passengers.length === was!.passengers.length
        ? undefined
        : 'another number of passengers';
    case 'book_reservation':
      return is.nonfree_baggages >= is.total_baggages - freeOf(after, id)
        ? undefined
        : 'a bag was not paid for';
    case 'send_certificate': {
      const R = before.reservations['R']!;
      const changes = before.itineraries['R'] ?? [];
      const flown = [...R.flights, ...changes.flatMap((change) => change.before?.segments ?? [])];
      const had = (status: string) =>
        flown.some(({ flight_number }) => statusOf(before, flight_number) === status);
      if (R.insurance === 'no' && cabinOf(before, 'R') !== 'business') return 'nobody is owed one';
      if (approvedBy === undefined) return 'nobody has looked at the facts';
      if (given['amount'] === 100 && had('cancelled')) return undefined;
      const isSettled = changes.length > 0 || R.status === 'cancelled';
      return given['amount'] === 50 && had('delayed') && isSettled
        ? undefined
        : 'it is not worth that';
    }
    default:
      return `nothing is known of ${action}`;
  }
}

function statusOf({ flights: all }: AirlineState, flight_number: string): string {
  return all[flight_number]!.dates[DAY]!.status;
}

const lifeIn = (initial: AirlineState, depth = 3): LifeCycle<AirlineState> => ({
  ...{ domain: airline, initial, depth, proposals, allowed },
  at: '2024-05-15T20:00:00.000000Z',
  counselors: { supervisor: ['supervisor:lee'] },
});

const WORLDS: Readonly<Record<string, () => AirlineState>> = {
  'in economy, without insurance': () => smallWorld(),
  'in basic economy': () =>
    smallWorld(({ reservations }) =>
      Object.assign(reservations['R']!, { cabin: 'basic_economy', total_baggages: 0 }),
    ),
  'in economy, insured': () =>
    smallWorld(({ reservations }) => Object.assign(reservations['R']!, { insurance: 'yes' })),
  'with a flight that is cancelled': () =>
    smallWorld((state) => setStatus(state, 'BC', 'cancelled')),
  'insured, with a flight that is cancelled': () =>
    smallWorld((state) => {
      setStatus(state, 'BC', 'cancelled');
      state.reservations['R']!.insurance = 'yes';
    }),
  'insured, with a flight that is late': () =>
    smallWorld((state) => {
      setStatus(state, 'BC', 'delayed');
      state.reservations['R']!.insurance = 'yes';
    }),
  'in business, with a flight that has landed': () =>
    smallWorld((state) => {
      setStatus(state, 'AB', 'landed');
      state.reservations['R']!.cabin = 'business';
    }),
};

describe('within three steps the kernel commits nothing that the policy forbids', () => {
  test.each(Object.keys(WORLDS))('%s', (name) => {
    const { counterexample, transitions } = walkLifeCycle(lifeIn(WORLDS[name]!()));
    expect(counterexample).toBeUndefined();
    expect(transitions).toBeGreaterThan(20);
  });
});

describe('a walk finds a forbidden commit in the domain without these rules', () => {
  test.each([
    [['CANCELLATION_GROUND'], 'in economy, without insurance', 'there is no ground for it'],
    [['INSURED_CANCELLATION_REASON'], 'in economy, insured', 'there is no ground for it'],
    [
      ['SEGMENT_NOT_FLOWN'],
      'in business, with a flight that has landed',
      'a flight has been flown',
    ],
    [['ROUTE_KEPT', 'TRIP_TYPE_KEPT'], 'in economy, without insurance', 'it leads elsewhere'],
    [['BASIC_ECONOMY_NOT_CHANGED'], 'in basic economy', 'basic economy flights cannot be modified'],
    [['BAGS_NOT_REMOVED'], 'in economy, without insurance', 'bags were removed'],
    [['BAGGAGE_ALLOWANCE'], 'in economy, without insurance', 'a bag was not paid for'],
    [
      ['CANCELLED_NOT_CHANGED'],
      'with a flight that is cancelled',
      'it was cancelled, and is nobody’s reservation any more',
    ],
    [
      ['CERTIFICATE_FACTS'],
      'insured, with a flight that is cancelled',
      'nobody has looked at the facts',
    ],
  ] as const)('%s', (rules, world, why) => {
    const { counterexample } = walkLifeCycle({
      ...lifeIn(WORLDS[world]!()),
      domain: domainWithout(airline, ...rules),
    });
    expect(counterexample?.why).toBe(why);
  });
});
