import type { Action } from 'assize/internal/kernel';
import { z } from 'zod';
import { cabinInForce } from '../in-force.ts';
import type { AirlineState, Cancellation, FlightStatus, Reservation, Segment } from '../schema.ts';
import { findReservation } from './find.ts';

export interface CancelReservation {
  reservation_id: string;
}

export const cancelReservation: Action<AirlineState, CancelReservation> = {
  process: 'cancellation',
  description: 'Cancel the whole reservation.',
  args: z.object({ reservation_id: z.string() }),
  apply: (state, { reservation_id }) => {
    const reservation = findReservation(state, reservation_id);
    // A second cancellation leaves the row of the first. That row then no longer agrees with
    // the record.
    state.cancellations[reservation_id] ??= circumstances(state, reservation);
    const refunds = reservation.payment_history.map(({ payment_id, amount }) => ({
      payment_id,
      amount: -amount,
    }));
    reservation.payment_history.push(...refunds);
    reservation.status = 'cancelled';
  },
};

function circumstances(state: AirlineState, reservation: Reservation): Cancellation {
  const { reservation_id, created_at, insurance, flights, passengers, payment_history } =
    reservation;
  return {
    at: state.now,
    booked_at: created_at,
    cabin: cabinInForce(state, reservation),
    insurance,
    segments: flights.map((segment) => ({
      flight_number: segment.flight_number,
      date: segment.date,
      status: statusOf(state, segment),
    })),
    payments: payment_history.map((entry) => ({ ...entry })),
    changes: changesOf(state, reservation_id),
    passengers: passengers.map((passenger) => ({ ...passenger })),
  };
}

function statusOf(state: AirlineState, { flight_number, date }: Segment): FlightStatus {
  const day = state.flights[flight_number]?.dates[date];
  if (day === undefined) throw new Error(`flight ${flight_number} not found on date ${date}`);
  return day.status;
}

function changesOf({ itineraries, bags }: AirlineState, reservation_id: string): number {
  return (itineraries[reservation_id]?.length ?? 0) + (bags[reservation_id]?.length ?? 0);
}
