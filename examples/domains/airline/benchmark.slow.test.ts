import { isDeepStrictEqual } from 'node:util';
import { type Authority, adjudicate, type Ruling, World } from 'assize/internal/kernel';
import { describe, expect, test } from 'vitest';
import { someOf } from '../../../tests/support/some-of.ts';
import { airline } from './index.ts';
import type { AirlineState } from './schema.ts';
import {
  airlineWorld,
  type Call,
  hasAirline,
  isWrite,
  type Recorded,
  recordedRuns,
  recordedSolutions,
} from './testing/data.ts';
import { attempt, copyOf, type Outcome } from './testing/naive-world.ts';

/**
 * The numbers and the list of labs/experiments/docs/airline.md. A rejected or pending proposal
 * changes nothing, as in the real job.
 */
describe.skipIf(!hasAirline)(
  'the policy on the benchmark (tau-airline, absent without ASSIZE_DATA)',
  () => {
    const world = hasAirline ? airlineWorld() : (undefined as never);

    test('the recorded tool calls of 100 runs get the expected tally of rulings', () => {
      expect(tally(recordedRuns().flatMap((run) => ruled(world, run)))).toEqual({
        pass: 47,
        tool_error: 33,
        BAGGAGE_ALLOWANCE: 3,
        BASIC_ECONOMY_NOT_CHANGED: 3,
        BOOKING_IS_THE_TRIP: 1,
        BOOKING_PAYMENT_MIX: 1,
        CANCELLATION_GROUND: 8,
        CERTIFICATE_AFTER_CHANGE: 1,
        CERTIFICATE_GROUND: 2,
        INSURED_CANCELLATION_REASON: 9,
        ROUTE_KEPT: 3,
        SEGMENT_NOT_FLOWN: 9,
        TRIP_TYPE_KEPT: 1,
      });
    });

    test('which of its own solutions the policy refuses or hands to a person', () => {
      const held = recordedSolutions().flatMap((task) =>
        ruled(world, task)
          .filter(({ ruling }) => ruling !== 'pass')
          .map(
            ({ call, ruling }) =>
              `${task.task_id} ${call.arguments['reservation_id'] ?? call.name} ${ruling}`,
          ),
      );
      expect(held).toEqual([
        '1 Z7GOZK INSURED_CANCELLATION_REASON',
        '10 H9ZU1C CANCELLATION_GROUND',
        '16 send_certificate CERTIFICATE_AFTER_CHANGE',
        '19 VA5SGQ ROUTE_KEPT',
        '19 VA5SGQ BAGGAGE_ALLOWANCE',
        '23 HXDUBJ BAGGAGE_ALLOWANCE',
        '26 NQNU5R SEGMENT_NOT_FLOWN',
        '27 NQNU5R SEGMENT_NOT_FLOWN',
        '28 MSJ4OA INSURED_CANCELLATION_REASON',
        '31 9HBUV8 INSURED_CANCELLATION_REASON',
        '33 S61CZX INSURED_CANCELLATION_REASON',
        '34 XEHM4B CANCELLATION_GROUND',
        '34 59XX6W INSURED_CANCELLATION_REASON',
        '45 send_certificate CERTIFICATE_GROUND',
        '46 send_certificate CERTIFICATE_GROUND',
      ]);
    });

    test('the kernel rules as the naive evaluation does, and leaves the same state', () => {
      for (const recorded of someOf([...recordedRuns(), ...recordedSolutions()])) {
        const live = new World(airline, { ...copyOf(world) });
        let state = world;
        for (const call of recorded.calls.filter(isWrite)) {
          const naive = attempt(state, call.name, call.arguments);
          const ruling = propose(live, call);
          expect(inWords(ruling), `task ${recorded.task_id}`).toBe(outcomeInWords(naive));
          if (ruling.verdict !== 'approved' || naive.outcome === 'tool_error') continue;
          ruling.keep();
          state = naive.state;
        }
        expect(isDeepStrictEqual(live.state, state), `task ${recorded.task_id}`).toBe(true);
      }
    });
  },
);

function ruled(world: AirlineState, { calls }: Recorded): { call: Call; ruling: string }[] {
  let state = world;
  return calls.filter(isWrite).map((call) => {
    const result = attempt(state, call.name, call.arguments);
    if (result.outcome === 'pass') state = result.state;
    return {
      call,
      ruling: 'invariant' in result ? (result.invariant ?? result.outcome) : result.outcome,
    };
  });
}

function tally(rulings: readonly { ruling: string }[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { ruling } of rulings) counts[ruling] = (counts[ruling] ?? 0) + 1;
  return counts;
}

const anything: Authority = {
  admits: () => ({ ok: true, needsApproval: false }),
  decides: () => undefined,
  affords: () => ({ ok: true }),
};

function propose(world: World, { name, arguments: args }: Call): Ruling {
  const intent = { action: name, role: { name: 'agent', params: {} }, args: args as never };
  return adjudicate(world, intent, anything, {
    at: '2024-05-15T20:00:00.000000Z',
    observations: [],
  });
}

function inWords(ruling: Ruling): string {
  if (ruling.verdict === 'approved') return 'pass';
  if (ruling.verdict === 'escalated') return `escalate ${ruling.invariantId}`;
  if (ruling.reason === 'precondition_failed') return `tool_error ${ruling.detail}`;
  return ruling.reason === 'invariant_rejected'
    ? `reject ${ruling.invariantId}`
    : `${ruling.reason} ${ruling.detail}`;
}

function outcomeInWords(outcome: Outcome): string {
  if (outcome.outcome === 'tool_error') return `tool_error ${outcome.detail}`;
  return outcome.outcome === 'pass' ? 'pass' : `${outcome.outcome} ${outcome.invariant}`;
}
