import type { AirlineState, Reservation, User } from '../schema.ts';

export function findUser(state: AirlineState, user_id: string): User {
  const user = state.users[user_id];
  if (user === undefined) throw new Error('user not found');
  return user;
}

export function findReservation(state: AirlineState, reservation_id: string): Reservation {
  const reservation = state.reservations[reservation_id];
  if (reservation === undefined) throw new Error('reservation not found');
  return reservation;
}
