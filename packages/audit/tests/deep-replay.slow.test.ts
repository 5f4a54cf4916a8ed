/**
 * Deep replay of the real actions of a GPT-4o agent (tau-bench, airline), under the policy and
 * without it.
 */
import { readFileSync } from 'node:fs';
import { MemoryStore } from '@assize/testing/memory';
import { generateKeys } from 'assize';
import { beforeAll, describe, expect, test } from 'vitest';
import { deepReplay, deepReplayStore } from '#replay';
import {
  adjudicateAirline,
  bareAirline,
  type RecordedRun,
  recordedRun,
} from '../../../examples/domains/airline/adjudicate.ts';
import { airline } from '../../../examples/domains/airline/index.ts';
import { dataPath, hasData } from '../../../tests/data.ts';
import { someOf } from '../../../tests/support/some-of.ts';

/** How often each rule stops a call of all runs. */
const STOPPED: Readonly<Record<string, number>> = {
  SEGMENT_NOT_FLOWN: 9,
  CANCELLATION_GROUND: 8,
  INSURED_CANCELLATION_REASON: 9,
  BAGGAGE_ALLOWANCE: 3,
  BASIC_ECONOMY_NOT_CHANGED: 3,
  ROUTE_KEPT: 3,
  CERTIFICATE_GROUND: 2,
  CERTIFICATE_AFTER_CHANGE: 1,
  BOOKING_PAYMENT_MIX: 1,
  TRIP_TYPE_KEPT: 1,
  BOOKING_IS_THE_TRIP: 1,
};

describe.skipIf(!hasData('tau-airline'))(
  'the airline runs (tau-airline, absent without ASSIZE_DATA)',
  () => {
    let runs: RecordedRun[];
    let areAll: boolean;
    const records = {} as { users: never; flights: never; reservations: never };

    beforeAll(() => {
      const read = (name: string): string => readFileSync(dataPath('tau-airline', name), 'utf8');
      for (const name of ['users', 'flights', 'reservations'] as const)
        records[name] = JSON.parse(read(`${name}.json`)) as never;
      const all = read('runs.jsonl')
        .trimEnd()
        .split('\n')
        .map((line) => recordedRun.parse(JSON.parse(line)));
      runs = someOf(all);
      areAll = runs.length === all.length;
    });

    async function adjudicated(
      mode: 'policy' | 'tools',
      escalations: 'approve' | 'reject',
    ): Promise<MemoryStore> {
      const store = new MemoryStore();
      const report = await adjudicateAirline({
        store,
        runs,
        mode,
        escalations,
        keys: generateKeys(),
        ...records,
      });
      expect(report.verified).toBe(true);
      return store;
    }

    test.each(['approve', 'reject'] as const)(
      'under the policy come out the same when it runs again (%s)',
      async (way) => {
        const store = await adjudicated('policy', way);
        const reports = await deepReplayStore(store, { domains: [airline] });
        expect(
          reports.filter(({ same, preserved, reworded }) => !same || !preserved || reworded > 0),
        ).toEqual([]);
        const decided = reports.reduce(
          (sum, { taken_as_recorded }) => sum + (taken_as_recorded.counselor_rejected ?? 0),
          0,
        );
        if (way === 'approve') expect(decided).toBe(0);
        const longest = reports.toSorted((a, b) => b.entries - a.entries)[0]!;
        expect(longest.entries).toBeGreaterThan(1);
        expect(
          await deepReplay(store, longest.trajectory_id, { domains: [airline] }),
        ).toMatchObject({
          same: true,
          preserved: true,
        });
        if (!areAll) return;
        expect(reports.reduce((sum, { entries }) => sum + entries, 0)).toBe(231);
        if (way === 'reject') expect(decided).toBe(9);
      },
    );

    test('without policy: the same; with it: stops as in airline.md', async () => {
      const store = await adjudicated('tools', 'reject');
      const bare = await deepReplayStore(store, { domains: [bareAirline] });
      expect(bare.every(({ same, preserved }) => same && preserved)).toBe(true);
      const policed = await deepReplayStore(store, { domains: [airline], changedDomains: true });
      const stopped: Record<string, number> = {};
      for (const { what, now } of policed.flatMap(({ differences }) => differences)) {
        expect(what).toBe('ruling');
        const { invariant_id } = now as { invariant_id: string };
        stopped[invariant_id] = (stopped[invariant_id] ?? 0) + 1;
      }
      for (const [id, times] of Object.entries(stopped))
        expect(times, id).toBeLessThanOrEqual(STOPPED[id] ?? 0);
      if (areAll) expect(stopped).toEqual(STOPPED);
    });
  },
);
