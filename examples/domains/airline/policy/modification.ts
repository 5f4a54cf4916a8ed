/** policy.md, Modify flight. */
import { type Invariant, pass, type Rules, reject } from 'assize/internal/kernel';
import type { AirlineState, Segment } from '../schema.ts';
import { routeFault, tripTypeFault } from '../trip.ts';

export function modification({ each }: Rules<AirlineState>): Invariant<AirlineState>[] {
  return [
    // Checks the cabin in force before the change: an upgrade alone makes the flights changeable
    // afterwards.
    each('BASIC_ECONOMY_NOT_CHANGED', '/itineraries/*/*', {}, ({ before, segments }) =>
      before?.cabin !== 'basic_economy' || sameFlights(before.segments, segments)
        ? pass
        : reject('basic economy flights cannot be changed, only their cabin'),
    ),

    each('ROUTE_KEPT', '/itineraries/*/*', {}, (row) => {
      const fault = row.before && routeFault(row, row.segments);
      return fault === undefined ? pass : reject(fault);
    }),

    each('TRIP_TYPE_KEPT', '/itineraries/*/*', {}, (row) => {
      const fault = row.before && tripTypeFault(row, row.segments);
      return fault === undefined ? pass : reject(fault);
    }),

    each('KEPT_PRICE', '/itineraries/*/*', {}, ({ cabin, before, segments }) => {
      if (before === undefined || before.cabin !== cabin) return pass;
      const repriced = segments.find(
        (segment) =>
          (counterpart(before.segments, segment)?.price ?? segment.price) !== segment.price,
      );
      return repriced === undefined
        ? pass
        : reject(`${repriced.flight_number} is unchanged, so its price must be unchanged`);
    }),

    each('CABIN_DIFFERENCE_PAID', '/itineraries/*/*', {}, ({ cabin, before, segments }) => {
      if (before === undefined || before.cabin === cabin) return pass;
      const unpaid = segments.find(({ price, listed }) => price !== listed);
      if (unpaid === undefined) return pass;
      const price = unpaid.listed === undefined ? 'not on sale' : `${unpaid.listed} dollars`;
      return reject(`${unpaid.flight_number} in ${cabin} is ${price}, not ${unpaid.price} dollars`);
    }),

    each(
      'INSURANCE_NOT_ADDED',
      '/booked/*',
      { reads: ['/reservations/*'], with: (_, [id]) => ({ reservation: `/reservations/${id}` }) },
      ({ insurance }, { reservation }) =>
        reservation?.insurance === insurance
          ? pass
          : reject(`insurance was booked as ${insurance} and cannot be changed`),
    ),

    each(
      'PASSENGER_COUNT_KEPT',
      '/booked/*',
      { reads: ['/reservations/*'], with: (_, [id]) => ({ reservation: `/reservations/${id}` }) },
      ({ passengers }, { reservation }) =>
        reservation?.passengers.length === passengers
          ? pass
          : reject(`booked for ${passengers} passengers`),
    ),
  ];
}

function sameFlights(before: readonly Segment[], after: readonly Segment[]): boolean {
  return before.length === after.length && after.every((segment, i) => isSame(segment, before[i]));
}

function counterpart(segments: readonly Segment[], segment: Segment): Segment | undefined {
  return segments.find((other) => isSame(segment, other));
}

function isSame(a: Segment, b: Segment | undefined): boolean {
  return a.flight_number === b?.flight_number && a.date === b.date;
}
