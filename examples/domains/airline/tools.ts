/**
 * The benchmark's tools. The six writing tools are the domain's actions, under their own names.
 * They refuse exactly the calls that the benchmark's own code refuses, in its words. The tools do
 * not know the policy.
 */
import type { Action } from 'assize/internal/kernel';
import type { AirlineState } from './schema.ts';
import { type BookReservation, bookReservation } from './tools/book-reservation.ts';
import { type CancelReservation, cancelReservation } from './tools/cancel-reservation.ts';
import { type SendCertificate, sendCertificate } from './tools/send-certificate.ts';
import {
  type UpdateReservationBaggages,
  updateReservationBaggages,
} from './tools/update-reservation-baggages.ts';
import {
  type UpdateReservationFlights,
  updateReservationFlights,
} from './tools/update-reservation-flights.ts';
import {
  type UpdateReservationPassengers,
  updateReservationPassengers,
} from './tools/update-reservation-passengers.ts';

/** Arguments by tool. */
export type AirlineActions = {
  book_reservation: BookReservation;
  cancel_reservation: CancelReservation;
  send_certificate: SendCertificate;
  update_reservation_baggages: UpdateReservationBaggages;
  update_reservation_flights: UpdateReservationFlights;
  update_reservation_passengers: UpdateReservationPassengers;
};

export const actions: {
  readonly [Name in keyof AirlineActions]: Action<AirlineState, AirlineActions[Name]>;
} = {
  book_reservation: bookReservation,
  cancel_reservation: cancelReservation,
  send_certificate: sendCertificate,
  update_reservation_baggages: updateReservationBaggages,
  update_reservation_flights: updateReservationFlights,
  update_reservation_passengers: updateReservationPassengers,
};

/** The kernel's action for a recorded call, by the tool's name. */
export interface AirlineTools {
  /** Proposals: each is an action of the domain. */
  readonly writes: readonly (keyof AirlineActions)[];
  /** Look something up in the database: observations of the next proposal. */
  readonly reads: readonly string[];
  /** Neither: a calculator, a place to think, the way to a person. */
  readonly rest: readonly string[];
}

export const airlineTools: AirlineTools = {
  writes: Object.keys(actions) as (keyof AirlineActions)[],
  reads: [
    'get_reservation_details',
    'get_user_details',
    'list_all_airports',
    'search_direct_flight',
    'search_onestop_flight',
  ],
  rest: ['calculate', 'think', 'transfer_to_human_agents'],
};
