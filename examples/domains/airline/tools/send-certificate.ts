import type { Action } from 'assize/internal/kernel';
import { z } from 'zod';
import { entitling } from '../compensation.ts';
import { cabinInForce } from '../in-force.ts';
import type { AirlineState, Ground, Incident, Segment } from '../schema.ts';
import { findReservation, findUser } from './find.ts';

export interface SendCertificate {
  user_id: string;
  amount: number;
}

/**
 * The numbers that the benchmark gives out; it assumes at most three certificates a conversation.
 */
const CERTIFICATE_IDS = ['certificate_3221322', 'certificate_3221323', 'certificate_3221324'];

export const sendCertificate: Action<AirlineState, SendCertificate> = {
  process: 'compensation',
  description: 'Send a certificate to a user.',
  args: z.object({ user_id: z.string(), amount: z.number() }),
  apply: (state, { user_id, amount }) => {
    const user = findUser(state, user_id);
    const payment_id = CERTIFICATE_IDS.find((id) => user.payment_methods[id] === undefined);
    if (payment_id === undefined) throw new Error('no certificate id is left');
    user.payment_methods[payment_id] = { id: payment_id, source: 'certificate', amount };

    const incidents = user.reservations.flatMap((id) => incidentsOf(state, id));
    const meant = entitling(incidents, amount);
    state.certificates[user_id] ??= [];
    state.certificates[user_id]?.push({
      at: state.now,
      payment_id,
      amount,
      incidents,
      ...(meant && { reservation_id: meant.reservation_id, ground: meant.ground }),
    });
  },
};

/** The events of a reservation's flights, including flights that it no longer has. */
function incidentsOf(state: AirlineState, reservation_id: string): Incident[] {
  const reservation = findReservation(state, reservation_id);
  const { user_id, insurance, passengers } = reservation;
  const changes = (state.itineraries[reservation_id] ?? []).flatMap(({ before }) =>
    before ? [before] : [],
  );
  const flown: readonly Segment[] = [
    ...reservation.flights,
    ...changes.flatMap(({ segments }) => segments),
  ];
  const statuses = new Set(
    flown.map(({ flight_number, date }) => state.flights[flight_number]?.dates[date]?.status),
  );
  return (['cancelled', 'delayed'] satisfies Ground[])
    .filter((ground) => statuses.has(ground))
    .map((ground) => ({
      reservation_id,
      ground,
      membership: findUser(state, user_id).membership,
      insurance,
      cabin: cabinInForce(state, reservation),
      passengers: passengers.length,
      settled: changes.length > 0 || reservation.status === 'cancelled',
      compensated: isCompensated(state, user_id, { reservation_id, ground }),
    }));
}

function isCompensated(
  state: AirlineState,
  user_id: string,
  { reservation_id, ground }: Pick<Incident, 'reservation_id' | 'ground'>,
): boolean {
  const sent = state.certificates[user_id] ?? [];
  return sent.some((row) => row.reservation_id === reservation_id && row.ground === ground);
}
