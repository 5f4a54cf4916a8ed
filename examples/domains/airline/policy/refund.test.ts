import { describe, expect, test } from 'vitest';
import type { AirlineState } from '../schema.ts';
import { approve, attempt, judge } from '../testing/naive-world.ts';
import { DAY, passengers, setStatus, smallWorld } from '../testing/small-world.ts';

function send(state: AirlineState, amount: number) {
  return attempt(state, 'send_certificate', { user_id: 'ann', amount });
}

function after(outcome: ReturnType<typeof attempt>): AirlineState {
  if (outcome.outcome === 'tool_error') throw new Error(outcome.detail);
  return outcome.state;
}

/** A reservation of a silver member with two passengers; its second flight has the status. */
function silver(status: 'cancelled' | 'delayed'): AirlineState {
  return smallWorld((state) => {
    state.users['ann']!.membership = 'silver';
    state.reservations['R']!.passengers = passengers(2);
    setStatus(state, 'BC', status);
  });
}

/** Changed away from the delayed flight. */
function rebooked(state: AirlineState): AirlineState {
  const flights = [{ flight_number: 'AC', date: DAY }];
  const change = { reservation_id: 'R', cabin: 'economy', flights, payment_id: 'card' };
  return after(attempt(state, 'update_reservation_flights', change));
}

const waiting = { outcome: 'escalate', invariant: 'CERTIFICATE_FACTS', keys: ['ann', '0'] };

test('CERTIFICATE_GROUND: a cancelled or delayed flight', () => {
  expect(send(silver('cancelled'), 200)).toMatchObject(waiting);
  expect(send(smallWorld(), 100)).toMatchObject({
    outcome: 'reject',
    invariant: 'CERTIFICATE_GROUND',
  });
});

test('CERTIFICATE_AFTER_CHANGE: a delay counts only after a rebooking', () => {
  const delayed = silver('delayed');
  expect(send(delayed, 100)).toMatchObject({
    outcome: 'reject',
    invariant: 'CERTIFICATE_AFTER_CHANGE',
  });
  expect(send(rebooked(delayed), 100)).toMatchObject(waiting);
});

describe('CERTIFICATE_ELIGIBLE', () => {
  const regular = (change: (state: AirlineState) => void = () => {}) =>
    smallWorld((state) => {
      setStatus(state, 'BC', 'cancelled');
      change(state);
    });

  test('not a regular member without insurance in economy', () => {
    expect(send(regular(), 100)).toMatchObject({
      outcome: 'reject',
      invariant: 'CERTIFICATE_ELIGIBLE',
    });
  });

  test.each([
    [
      'with insurance',
      (state: AirlineState) => Object.assign(state.reservations['R']!, { insurance: 'yes' }),
    ],
    [
      'in business',
      (state: AirlineState) => Object.assign(state.reservations['R']!, { cabin: 'business' }),
    ],
    [
      'as a silver member',
      (state: AirlineState) => Object.assign(state.users['ann']!, { membership: 'silver' }),
    ],
  ])('%s', (_, change) => {
    expect(send(regular(change), 100)).toMatchObject(waiting);
  });
});

test('CERTIFICATE_AMOUNT: 100 dollars a passenger if cancelled, 50 if delayed', () => {
  const wrong = { outcome: 'reject', invariant: 'CERTIFICATE_AMOUNT' };
  expect(send(silver('cancelled'), 100)).toMatchObject(wrong);
  expect(send(rebooked(silver('delayed')), 200)).toMatchObject(wrong);
});

test('CERTIFICATE_ONCE: a gesture is made once', () => {
  const first = approve(after(send(silver('cancelled'), 200)), 'CERTIFICATE_FACTS', ['ann', '0']);
  expect(send(first, 200)).toMatchObject({ outcome: 'reject', invariant: 'CERTIFICATE_ONCE' });
});

test('CERTIFICATE_FACTS: passes with the approval written down', () => {
  const approved = approve(after(send(silver('cancelled'), 200)), 'CERTIFICATE_FACTS', [
    'ann',
    '0',
  ]);
  expect(approved.certificates['ann']?.[0]).toMatchObject({
    reservation_id: 'R',
    ground: 'cancelled',
    approved_by: 'supervisor:test',
  });
  expect(judge(approved)).toMatchObject({ outcome: 'pass' });
});
