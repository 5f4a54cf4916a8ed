/**
 * Event rows and the benchmark's records agree. Otherwise a rule over rows would have no effect on
 * records.
 */
import { type Invariant, pass, type Rules, reject } from 'assize/internal/kernel';
import type { AirlineState, BagsRow, ItineraryRow, Reservation, Segment } from '../schema.ts';

export function agreement({ each }: Rules<AirlineState>): Invariant<AirlineState>[] {
  return [
    each(
      'BOOKING_ON_RECORD',
      '/booked/*',
      {
        reads: ['/reservations/*', '/users/*/reservations'],
        with: ({ user_id }, [id]) => ({
          reservation: `/reservations/${id}`,
          owned: `/users/${user_id}/reservations`,
        }),
      },
      ({ at, user_id }, { reservation, owned }, [id = '']) =>
        reservation?.user_id === user_id && reservation.created_at === at && owned?.includes(id)
          ? pass
          : reject(`the booking of ${id} and its record disagree`),
    ),

    each(
      'ITINERARY_ON_RECORD',
      '/itineraries/*',
      { reads: ['/reservations/*'], with: (_, [id]) => ({ reservation: `/reservations/${id}` }) },
      (rows, { reservation }, [id]) =>
        reservation !== undefined &&
        startsAsBooked(rows, reservation) &&
        rows.every((row, i) => i === 0 || followsItinerary(row, rows[i - 1])) &&
        endsOnRecord(rows, reservation)
          ? pass
          : reject(`the itinerary of ${id} and its record disagree`),
    ),

    each(
      'BAGS_ON_RECORD',
      '/bags/*',
      { reads: ['/reservations/*'], with: (_, [id]) => ({ reservation: `/reservations/${id}` }) },
      (rows, { reservation }, [id]) => {
        const last = rows.at(-1);
        return last?.total === reservation?.total_baggages &&
          last?.nonfree === reservation?.nonfree_baggages &&
          rows.every((row, i) => i === 0 || followsBags(row, rows[i - 1]))
          ? pass
          : reject(`the bags of ${id} and its record disagree`);
      },
    ),

    // A certificate that was used up is gone from the profile, and its id may be given out again.
    each(
      'CERTIFICATE_ON_RECORD',
      '/certificates/*',
      {
        reads: ['/users/*/payment_methods'],
        with: (_, [user]) => ({ methods: `/users/${user}/payment_methods` }),
      },
      (rows, { methods }, [user]) => {
        const latest = new Map(rows.map(({ payment_id, amount }) => [payment_id, amount]));
        const agrees = [...latest].every(([id, amount]) => {
          const method = methods?.[id];
          return (
            method === undefined || (method.source === 'certificate' && method.amount === amount)
          );
        });
        return agrees ? pass : reject(`the certificates of ${user} and the profile disagree`);
      },
    ),
  ];
}

function startsAsBooked(rows: readonly ItineraryRow[], { cabin }: Reservation): boolean {
  const first = rows[0];
  return (first?.before?.cabin ?? first?.cabin) === cabin;
}

function endsOnRecord(rows: readonly ItineraryRow[], record: Reservation): boolean {
  const last = rows.at(-1);
  return (
    last?.origin === record.origin &&
    last.destination === record.destination &&
    last.flight_type === record.flight_type &&
    sameSegments(last.segments, record.flights)
  );
}

function followsItinerary({ before }: ItineraryRow, previous: ItineraryRow | undefined): boolean {
  return (
    before !== undefined &&
    before.cabin === previous?.cabin &&
    sameSegments(before.segments, previous.segments)
  );
}

function followsBags({ before }: BagsRow, previous: BagsRow | undefined): boolean {
  return (
    before !== undefined && before.total === previous?.total && before.nonfree === previous.nonfree
  );
}

function sameSegments(a: readonly Segment[], b: readonly Segment[]): boolean {
  return a.length === b.length && a.every((segment, i) => sameSegment(segment, b[i]));
}

function sameSegment(a: Segment, b: Segment | undefined): boolean {
  return a.flight_number === b?.flight_number && a.date === b.date && a.price === b.price;
}
