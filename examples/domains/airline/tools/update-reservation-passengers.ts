import type { Action } from 'assize/internal/kernel';
import { z } from 'zod';
import { type AirlineState, type Passenger, passenger } from '../schema.ts';
import { findReservation } from './find.ts';

export interface UpdateReservationPassengers {
  reservation_id: string;
  passengers: Passenger[];
}

export const updateReservationPassengers: Action<AirlineState, UpdateReservationPassengers> = {
  process: 'passengers',
  description: 'Update the passengers of a reservation; their number stays.',
  args: z.object({ reservation_id: z.string(), passengers: z.array(passenger) }),
  apply: (state, { reservation_id, passengers }) => {
    const reservation = findReservation(state, reservation_id);
    if (passengers.length !== reservation.passengers.length)
      throw new Error('number of passengers does not match');
    reservation.passengers = passengers;
  },
};
