import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { recordedRun } from '../../../examples/domains/tau/index.ts';
import { dataPath, hasData } from '../../../tests/data.ts';
import { AIRLINE_RULES } from './airline-rules.ts';
import { measureAirline } from './measure-airline.ts';

describe.skipIf(!hasData('tau-airline'))(
  'mining the airline (tau-airline, absent without ASSIZE_DATA)',
  () => {
    const read = (name: string): string => readFileSync(dataPath('tau-airline', name), 'utf8');
    const runs = () =>
      read('runs.jsonl')
        .trim()
        .split('\n')
        .map((text) => recordedRun.parse(JSON.parse(text)));

    test('every rule of the list has its words in the policy', () => {
      const policy = read('policy.md');
      expect(AIRLINE_RULES.filter(({ says }) => !policy.includes(says))).toEqual([]);
      expect(new Set(AIRLINE_RULES.map(({ id }) => id)).size).toBe(AIRLINE_RULES.length);
      for (const { visible, isSaidBy } of AIRLINE_RULES)
        expect(isSaidBy !== undefined).toBe(visible === 'calls');
    });

    test('the figures of the guide', () => {
      const { mined, recall, ...rest } = measureAirline(runs());
      expect(mined.map(({ policy_rule }) => policy_rule)).toEqual([
        'cancel-ids',
        'modify-ids',
        null,
        null,
        null,
      ]);
      expect(mined.map(({ everywhere }) => [everywhere.calls, everywhere.broken])).toEqual([
        [35, 0],
        [56, 0],
        [48, 3],
        [70, 4],
        [59, 0],
      ]);
      expect(recall).toEqual({
        calls: { rules: 7, found: 2 },
        results: { rules: 12, found: 0 },
        talk: { rules: 7, found: 0 },
        all: { rules: 26, found: 2 },
      });
      expect(rest).toMatchObject({ runs: 100, successful: 43, precision: 0.4 });
    });

    test('runs in another order of calls show no ordering', () => {
      const reversed = runs().map((run) => ({
        ...run,
        calls: [...run.calls].reverse(),
        outputs: new Map(),
      }));
      expect(measureAirline(reversed).recall.calls.found).toBe(0);
    });
  },
);
