/** policy.md, Cancel flight. */
import { escalate, type Invariant, pass, type Rules, reject } from 'assize/internal/kernel';
import { hoursBetween } from '../est.ts';
import type { AirlineState, Cancellation, Passenger, PaymentEntry } from '../schema.ts';
import { SUPERVISOR } from './supervisor.ts';

const FREE_HOURS = 24;

export function cancellation({ each }: Rules<AirlineState>): Invariant<AirlineState>[] {
  return [
    each('SEGMENT_NOT_FLOWN', '/cancellations/*', {}, ({ segments }) => {
      const flown = segments.find(({ status }) => status === 'flying' || status === 'landed');
      return flown === undefined
        ? pass
        : reject(`${flown.flight_number} on ${flown.date} is ${flown.status}; transfer the user`);
    }),

    each('CANCELLATION_GROUND', '/cancellations/*', {}, (row) =>
      isFree(row) || row.insurance === 'yes'
        ? pass
        : reject(
            `${row.cabin} without insurance, booked ${Math.floor(hoursBetween(row.booked_at, row.at))} hours ago, no flight cancelled by the airline`,
          ),
    ),

    // Not a sentence of the policy: a cancelled reservation is no longer a reservation.
    each(
      'CANCELLED_NOT_CHANGED',
      '/cancellations/*',
      {
        reads: ['/itineraries/*', '/bags/*', '/reservations/*/passengers'],
        with: (_, [id]) => ({
          itineraries: `/itineraries/${id}`,
          bags: `/bags/${id}`,
          people: `/reservations/${id}/passengers`,
        }),
      },
      ({ changes, passengers }, { itineraries, bags, people }) =>
        changes === (itineraries?.length ?? 0) + (bags?.length ?? 0) &&
        samePeople(passengers, people)
          ? pass
          : reject('the reservation is cancelled'),
    ),

    each(
      'CANCELLATION_REFUND',
      '/cancellations/*',
      { reads: ['/reservations/*'], with: (_, [id]) => ({ reservation: `/reservations/${id}` }) },
      ({ payments }, { reservation }) =>
        reservation?.status === 'cancelled' &&
        samePayments(reservation.payment_history, [...payments, ...refunds(payments)])
          ? pass
          : reject(
              'a cancellation pays every payment back to its method, once, and is the last of the reservation',
            ),
    ),
  ];
}

/**
 * The policy asks for a health or weather reason here, and the tool accepts no reason. Only an
 * approver can decide.
 */
export function insuredCancellation({ each }: Rules<AirlineState>): Invariant<AirlineState> {
  return each(
    'INSURED_CANCELLATION_REASON',
    '/cancellations/*',
    {
      channel: SUPERVISOR,
      onApprove: (state, { counselor, at, keys: [id = ''] }) => {
        const row = state.cancellations[id];
        if (row !== undefined) Object.assign(row, { approved_by: counselor, approved_at: at });
      },
    },
    (row) =>
      isFree(row) || row.approved_by !== undefined
        ? pass
        : escalate(`insured ${row.cabin}: is the reason the passenger's health or the weather?`),
  );
}

/** Whether the reservation can be cancelled for any reason. */
function isFree({ at, booked_at, cabin, segments }: Cancellation): boolean {
  return (
    cabin === 'business' ||
    hoursBetween(booked_at, at) <= FREE_HOURS ||
    segments.some(({ status }) => status === 'cancelled')
  );
}

function samePeople(then: readonly Passenger[], now: readonly Passenger[] = []): boolean {
  return (
    then.length === now.length &&
    then.every(({ first_name, last_name, dob }, i) => {
      const other = now[i];
      return other?.first_name === first_name && other.last_name === last_name && other.dob === dob;
    })
  );
}

function refunds(payments: readonly PaymentEntry[]): PaymentEntry[] {
  return payments.map(({ payment_id, amount }) => ({ payment_id, amount: -amount }));
}

function samePayments(a: readonly PaymentEntry[], b: readonly PaymentEntry[]): boolean {
  return (
    a.length === b.length &&
    a.every(
      ({ payment_id, amount }, i) => b[i]?.payment_id === payment_id && b[i].amount === amount,
    )
  );
}
