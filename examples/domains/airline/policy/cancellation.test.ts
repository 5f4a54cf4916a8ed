import { describe, expect, test } from 'vitest';
import type { AirlineState, Reservation } from '../schema.ts';
import { approve, attempt, judge } from '../testing/naive-world.ts';
import { DAY, setStatus, smallWorld } from '../testing/small-world.ts';

function cancel(state: AirlineState) {
  return attempt(state, 'cancel_reservation', { reservation_id: 'R' });
}

function worldWith(change: Partial<Reservation>): AirlineState {
  return smallWorld(({ reservations }) => Object.assign(reservations['R']!, change));
}

function after(outcome: ReturnType<typeof attempt>): AirlineState {
  if (outcome.outcome === 'tool_error') throw new Error(outcome.detail);
  return outcome.state;
}

const insured = () => worldWith({ insurance: 'yes' });

describe('SEGMENT_NOT_FLOWN', () => {
  test('not even business, once a segment has landed', () => {
    const business = worldWith({ cabin: 'business' });
    expect(cancel(business)).toMatchObject({ outcome: 'pass' });
    setStatus(business, 'AB', 'landed');
    expect(cancel(business)).toMatchObject({ outcome: 'reject', invariant: 'SEGMENT_NOT_FLOWN' });
  });

  test('not even when the airline cancelled the next one', () => {
    const world = smallWorld();
    setStatus(world, 'AB', 'landed');
    setStatus(world, 'BC', 'cancelled');
    expect(cancel(world)).toMatchObject({ outcome: 'reject', invariant: 'SEGMENT_NOT_FLOWN' });
  });
});

describe('CANCELLATION_GROUND', () => {
  const wrong = { outcome: 'reject', invariant: 'CANCELLATION_GROUND' };

  test('within 24 hours of booking, to the second', () => {
    expect(cancel(worldWith({ created_at: '2024-05-14T15:00:00' }))).toMatchObject({
      outcome: 'pass',
    });
    expect(cancel(worldWith({ created_at: '2024-05-14T14:59:59' }))).toMatchObject(wrong);
  });

  test('when the airline cancelled a flight', () => {
    const world = smallWorld();
    expect(cancel(world)).toMatchObject(wrong);
    setStatus(world, 'BC', 'cancelled');
    expect(cancel(world)).toMatchObject({ outcome: 'pass' });
  });

  test('neither a delay nor membership is a ground', () => {
    const world = smallWorld(({ users }) => {
      users['ann']!.membership = 'gold';
    });
    setStatus(world, 'BC', 'delayed');
    expect(cancel(world)).toMatchObject(wrong);
  });

  test('business by an upgrade counts', () => {
    const flights = ['AB', 'BC'].map((flight_number) => ({ flight_number, date: DAY }));
    const upgrade = { reservation_id: 'R', cabin: 'business', flights, payment_id: 'card' };
    expect(
      cancel(after(attempt(smallWorld(), 'update_reservation_flights', upgrade))),
    ).toMatchObject({
      outcome: 'pass',
    });
  });
});

describe('INSURED_CANCELLATION_REASON', () => {
  test('needs a human decision, and passes once the approval is recorded', () => {
    const waiting = cancel(insured());
    expect(waiting).toMatchObject({
      outcome: 'escalate',
      invariant: 'INSURED_CANCELLATION_REASON',
      keys: ['R'],
    });
    const approved = approve(after(waiting), 'INSURED_CANCELLATION_REASON', ['R']);
    expect(approved.cancellations['R']).toMatchObject({ approved_by: 'supervisor:test' });
    expect(judge(approved)).toMatchObject({ outcome: 'pass' });
  });

  test('is not asked where any reason will do', () => {
    expect(cancel(worldWith({ insurance: 'yes', cabin: 'business' }))).toMatchObject({
      outcome: 'pass',
    });
  });
});

describe('after a cancellation', () => {
  const cancelled = () => after(cancel(worldWith({ cabin: 'business' })));

  test('CANCELLATION_REFUND: every payment goes back, once', () => {
    const state = cancelled();
    expect(state.reservations['R']!.payment_history).toEqual([
      { payment_id: 'card', amount: 200 },
      { payment_id: 'card', amount: -200 },
    ]);
    expect(cancel(state)).toMatchObject({ outcome: 'reject', invariant: 'CANCELLATION_REFUND' });
    state.reservations['R']!.payment_history.pop();
    expect(judge(state)).toMatchObject({ outcome: 'reject', invariant: 'CANCELLATION_REFUND' });
  });

  test('CANCELLED_NOT_CHANGED: neither bags nor flights', () => {
    const bags = {
      reservation_id: 'R',
      total_baggages: 2,
      nonfree_baggages: 0,
      payment_id: 'card',
    };
    const wrong = { outcome: 'reject', invariant: 'CANCELLED_NOT_CHANGED' };
    expect(attempt(cancelled(), 'update_reservation_baggages', bags)).toMatchObject(wrong);
    const flights = [{ flight_number: 'AC', date: DAY }];
    const change = { reservation_id: 'R', cabin: 'business', flights, payment_id: 'card' };
    expect(attempt(cancelled(), 'update_reservation_flights', change)).toMatchObject(wrong);
  });

  test('a later world does not judge it again', () => {
    const state = cancelled();
    setStatus(state, 'AB', 'landed');
    state.now = '2024-06-01T00:00:00';
    expect(judge(state)).toMatchObject({ outcome: 'pass' });
  });
});
