import type { Action } from 'assize/internal/kernel';
import { z } from 'zod';
import { BAG_PRICE, INSURANCE_PRICE } from '../prices.ts';
import {
  type AirlineState,
  type Booked,
  type Cabin,
  cabin,
  type FlightType,
  flightType,
  type Insurance,
  insurance,
  type Passenger,
  type PaymentEntry,
  passenger,
  type Segment,
  type User,
} from '../schema.ts';
import { findUser } from './find.ts';
import { offer, type SegmentChoice } from './offer.ts';
import { segmentChoice } from './segment-choice.ts';

export interface BookReservation {
  user_id: string;
  origin: string;
  destination: string;
  flight_type: FlightType;
  cabin: Cabin;
  flights: SegmentChoice[];
  passengers: Passenger[];
  payment_methods: PaymentEntry[];
  total_baggages: number;
  nonfree_baggages: number;
  insurance: Insurance;
}

/** The numbers that the benchmark gives out; it assumes at most three bookings a conversation. */
const RESERVATION_IDS = ['HATHAT', 'HATHAU', 'HATHAV'];

export const bookReservation: Action<AirlineState, BookReservation> = {
  process: 'booking',
  description: 'Book a reservation.',
  args: z.object({
    user_id: z.string(),
    origin: z.string(),
    destination: z.string(),
    flight_type: flightType,
    cabin,
    flights: z.array(segmentChoice),
    passengers: z.array(passenger),
    payment_methods: z.array(z.object({ payment_id: z.string(), amount: z.number() })),
    total_baggages: z.int(),
    nonfree_baggages: z.int(),
    insurance,
  }),
  apply: (state, args) => {
    const user = findUser(state, args.user_id);
    const seats = args.passengers.length;
    const segments = args.flights.map((choice) =>
      offer(state, choice, { cabin: args.cabin, seats }),
    );
    const payments = priced(user, args.payment_methods);
    assertPaid(args.payment_methods, price(args, segments));
    const reservation_id = RESERVATION_IDS.find((id) => state.reservations[id] === undefined);
    if (reservation_id === undefined) throw new Error('no reservation id is left');
    pay(user, args.payment_methods);

    state.reservations[reservation_id] = {
      reservation_id,
      user_id: args.user_id,
      origin: args.origin,
      destination: args.destination,
      flight_type: args.flight_type,
      cabin: args.cabin,
      flights: segments,
      passengers: args.passengers,
      payment_history: args.payment_methods,
      created_at: state.now,
      total_baggages: args.total_baggages,
      nonfree_baggages: args.nonfree_baggages,
      insurance: args.insurance,
    };
    user.reservations.push(reservation_id);
    record(state, reservation_id, { args, segments, payments });
  },
};

function record(
  state: AirlineState,
  reservation_id: string,
  {
    args,
    segments,
    payments,
  }: { args: BookReservation; segments: Segment[]; payments: Booked['payments'] },
): void {
  const { user_id, origin, destination, flight_type } = args;
  const at = state.now;
  const passengers = args.passengers.length;
  const membership = findUser(state, user_id).membership;
  state.booked[reservation_id] = { at, user_id, passengers, insurance: args.insurance, payments };
  state.itineraries[reservation_id] = [
    {
      at,
      origin,
      destination,
      flight_type,
      cabin: args.cabin,
      segments: segments.map((segment) => ({ ...segment, listed: segment.price })),
    },
  ];
  const { total_baggages: total, nonfree_baggages: nonfree } = args;
  state.bags[reservation_id] = [{ at, total, nonfree, cabin: args.cabin, membership, passengers }];
}

function price(
  { passengers, insurance, nonfree_baggages }: BookReservation,
  segments: readonly Segment[],
): number {
  const fares = segments.reduce((sum, segment) => sum + segment.price, 0);
  const insured = insurance === 'yes' ? INSURANCE_PRICE : 0;
  return (fares + insured) * passengers.length + BAG_PRICE * nonfree_baggages;
}

/**
 * The payments with their sources. The profile must have each method, and each method must cover
 * its own payment.
 */
function priced(user: User, payments: readonly PaymentEntry[]): Booked['payments'] {
  return payments.map(({ payment_id, amount }) => {
    const method = user.payment_methods[payment_id];
    if (method === undefined) throw new Error(`payment method ${payment_id} not found`);
    if (method.source !== 'credit_card' && method.amount < amount) {
      throw new Error(`not enough balance in payment method ${payment_id}`);
    }
    return { payment_id, source: method.source, amount };
  });
}

function assertPaid(payments: readonly PaymentEntry[], total: number): void {
  const paid = payments.reduce((sum, { amount }) => sum + amount, 0);
  if (paid !== total) {
    throw new Error(`payment amount does not add up, total price is ${total}, but paid ${paid}`);
  }
}

/** A certificate is used up completely (policy.md: its remaining amount is not refundable). */
function pay(user: User, payments: readonly PaymentEntry[]): void {
  for (const { payment_id, amount } of payments) {
    const method = user.payment_methods[payment_id];
    if (method === undefined) throw new Error(`payment method ${payment_id} not found`);
    if (method.source === 'gift_card') method.amount -= amount;
    if (method.source === 'certificate') delete user.payment_methods[payment_id];
  }
}
