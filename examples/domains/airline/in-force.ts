import type { AirlineState, Cabin, Reservation } from './schema.ts';

/** The cabin that the passengers sit in now: the last one paid for, or else the one booked. */
export function cabinInForce(state: AirlineState, { reservation_id, cabin }: Reservation): Cabin {
  return state.itineraries[reservation_id]?.at(-1)?.cabin ?? cabin;
}
