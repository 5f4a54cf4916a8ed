import { describe, expect, test } from 'vitest';
import { changedRecords } from '../../../tests/support/models/tau-data.ts';
import { someOf } from '../../../tests/support/some-of.ts';
import type { AirlineState } from './schema.ts';
import {
  airlineWorld,
  hasAirline,
  isWrite,
  type Recorded,
  recordedRuns,
  recordedSolutions,
} from './testing/data.ts';
import { copyOf, perform } from './testing/naive-world.ts';

const COLLECTIONS = ['users', 'flights', 'reservations'] as const;

/** The writing calls' own outputs where they are errors; the state as it is left. */
function replay(
  world: AirlineState,
  { calls }: Recorded,
): { errors: Map<number, string>; state: AirlineState } {
  const errors = new Map<number, string>();
  let state = copyOf(world);
  for (const [index, call] of calls.entries()) {
    if (!isWrite(call)) continue;
    const attempted = copyOf(state);
    try {
      perform(attempted, call.name, call.arguments);
      state = attempted;
    } catch (error) {
      errors.set(index, `Error: ${(error as Error).message}`);
    }
  }
  return { errors, state };
}

describe.skipIf(!hasAirline)(
  'the benchmark’s own tools (tau-airline, absent without ASSIZE_DATA)',
  () => {
    const world = hasAirline ? airlineWorld() : (undefined as never);

    test.each([
      ['the 100 recorded runs', recordedRuns, 100],
      ['the 50 solutions', recordedSolutions, 50],
    ] as const)('%s leave the same records and meet the same errors', (_, recorded, count) => {
      const all = recorded();
      expect(all).toHaveLength(count);
      for (const run of someOf(all)) {
        const name = `task ${run.task_id}, trial ${run.trial ?? '-'}`;
        const { errors, state } = replay(world, run);
        expect(changedRecords(COLLECTIONS, world, state), name).toStrictEqual(run.changed);
        for (const [index, call] of run.calls.entries()) {
          if (!isWrite(call)) continue;
          const output = run.outputs[index] ?? '';
          expect(errors.get(index), name).toBe(output.startsWith('Error') ? output : undefined);
        }
      }
    });
  },
);
