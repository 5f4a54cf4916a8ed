import type { Action } from 'assize/internal/kernel';
import { z } from 'zod';
import { cabinInForce } from '../in-force.ts';
import {
  type AirlineState,
  type Cabin,
  cabin,
  type Reservation,
  type Segment,
  type SoldSegment,
} from '../schema.ts';
import { charge } from './charge.ts';
import { findReservation } from './find.ts';
import { listedPrice, offer, type SegmentChoice } from './offer.ts';
import { segmentChoice } from './segment-choice.ts';

export interface UpdateReservationFlights {
  reservation_id: string;
  cabin: Cabin;
  flights: SegmentChoice[];
  payment_id: string;
}

export const updateReservationFlights: Action<AirlineState, UpdateReservationFlights> = {
  process: 'rebooking',
  description: 'Update the flights or the cabin of a reservation.',
  args: z.object({
    reservation_id: z.string(),
    cabin,
    flights: z.array(segmentChoice),
    payment_id: z.string(),
  }),
  apply: (state, { reservation_id, cabin, flights, payment_id }) => {
    const reservation = findReservation(state, reservation_id);
    const before = {
      cabin: cabinInForce(state, reservation),
      segments: reservation.flights.map((s) => ({ ...s })),
    };
    const seats = reservation.passengers.length;
    const segments = flights.map(
      (choice) => kept(reservation, choice, cabin) ?? offer(state, choice, { cabin, seats }),
    );
    const amount = (fares(segments) - fares(before.segments)) * seats;
    charge(state, { user_id: reservation.user_id, payment_id, amount });

    reservation.flights = segments;
    if (amount !== 0) reservation.payment_history.push({ payment_id, amount });
    const { origin, destination, flight_type } = reservation;
    state.itineraries[reservation_id] ??= [];
    state.itineraries[reservation_id]?.push({
      at: state.now,
      origin,
      destination,
      flight_type,
      cabin,
      segments: segments.map((segment) => sold(state, segment, cabin)),
      before,
    });
  },
};

/**
 * A segment that stays keeps its price. The benchmark compares with the cabin as booked, not with
 * the cabin in force. If this comparison gives a wrong price, CABIN_DIFFERENCE_PAID and KEPT_PRICE
 * report it.
 */
function kept(reservation: Reservation, choice: SegmentChoice, cabin: Cabin): Segment | undefined {
  if (cabin !== reservation.cabin) return undefined;
  const found = reservation.flights.find(
    ({ flight_number, date }) => flight_number === choice.flight_number && date === choice.date,
  );
  return found && { ...found };
}

function sold(state: AirlineState, segment: Segment, cabin: Cabin): SoldSegment {
  const listed = listedPrice(state, segment, cabin);
  return listed === undefined ? segment : { ...segment, listed };
}

function fares(segments: readonly Segment[]): number {
  return segments.reduce((sum, { price }) => sum + price, 0);
}
