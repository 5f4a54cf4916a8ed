import type { Action } from 'assize/internal/kernel';
import { z } from 'zod';
import { cabinInForce } from '../in-force.ts';
import { BAG_PRICE } from '../prices.ts';
import type { AirlineState } from '../schema.ts';
import { charge } from './charge.ts';
import { findReservation, findUser } from './find.ts';

export interface UpdateReservationBaggages {
  reservation_id: string;
  total_baggages: number;
  nonfree_baggages: number;
  payment_id: string;
}

export const updateReservationBaggages: Action<AirlineState, UpdateReservationBaggages> = {
  process: 'baggage',
  description: 'Update the checked bags of a reservation.',
  args: z.object({
    reservation_id: z.string(),
    total_baggages: z.int(),
    nonfree_baggages: z.int(),
    payment_id: z.string(),
  }),
  apply: (state, { reservation_id, total_baggages, nonfree_baggages, payment_id }) => {
    const reservation = findReservation(state, reservation_id);
    const before = { total: reservation.total_baggages, nonfree: reservation.nonfree_baggages };
    const amount = BAG_PRICE * Math.max(0, nonfree_baggages - before.nonfree);
    charge(state, { user_id: reservation.user_id, payment_id, amount });

    reservation.total_baggages = total_baggages;
    reservation.nonfree_baggages = nonfree_baggages;
    if (amount !== 0) reservation.payment_history.push({ payment_id, amount });
    state.bags[reservation_id] ??= [];
    state.bags[reservation_id]?.push({
      at: state.now,
      total: total_baggages,
      nonfree: nonfree_baggages,
      cabin: cabinInForce(state, reservation),
      membership: findUser(state, reservation.user_id).membership,
      passengers: reservation.passengers.length,
      before,
    });
  },
};
