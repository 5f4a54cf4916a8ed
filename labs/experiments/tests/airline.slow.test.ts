/**
 * The main job on recorded calls of a GPT-4o agent (tau-bench, airline): 100 recorded runs, 50
 * solutions.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { contentHash, WORLD_LIMITS } from 'assize/internal/canon';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { AdjudicationReport } from '../../../examples/domains/airline/adjudicate.ts';
import { dataPath, hasData } from '../../../tests/data.ts';
import { type Ended, runCommand } from '../../../tests/support/process/command.ts';

const data = (name: string): string => dataPath('tau-airline', name);

describe.skipIf(!hasData('tau-airline'))(
  'the airline job (tau-airline, absent without ASSIZE_DATA)',
  () => {
    let folder: string;

    beforeAll(() => {
      folder = mkdtempSync(join(tmpdir(), 'assize-airline-'));
    });

    afterAll(() => {
      rmSync(folder, { recursive: true, force: true });
    });

    const assize = (...args: string[]): Promise<Ended> => runCommand(folder, undefined, ...args);

    async function adjudicated(
      store: string,
      ...args: string[]
    ): Promise<{ code: number | null; report: AdjudicationReport }> {
      const common = [
        'assize-experiments',
        'adjudicate',
        'airline',
        '--data',
        dataPath('tau-airline'),
        '--json',
        '--store',
        `sqlite:./${store}`,
      ];
      const { code, out } = await assize(...common, ...args);
      return { code, report: JSON.parse(out) };
    }

    test('without the policy 100 runs leave the records of the benchmark tools', async () => {
      const { code, report } = await adjudicated(
        'runs.db',
        ...[
          '--runs',
          data('runs.jsonl'),
          '--no-invariants',
          '--expected',
          data('expected-runs.jsonl'),
        ],
      );
      expect(report.results.filter(({ differences }) => differences?.length !== 0)).toEqual([]);
      expect({ code, ...report, results: [], seconds: 0 }).toEqual({
        code: 0,
        runs: 100,
        proposals: 121,
        committed: 88,
        rejected: {},
        escalated: 0,
        tool_errors: 33,
        entries: 222,
        verified: true,
        identical: 100,
        seconds: 0,
        results: [],
      });
    });

    test('and so do all 50 of its own solutions', async () => {
      const { code, report } = await adjudicated(
        'tasks.db',
        ...[
          '--tasks',
          data('tasks.json'),
          '--no-invariants',
          '--expected',
          data('expected-tasks.jsonl'),
        ],
      );
      expect(report.results.filter(({ differences }) => differences?.length !== 0)).toEqual([]);
      expect({
        code,
        identical: report.identical,
        runs: report.runs,
        verified: report.verified,
      }).toEqual({
        code: 0,
        identical: 50,
        runs: 50,
        verified: true,
      });
    });

    describe('under the policy', () => {
      let report: AdjudicationReport;
      const store = ['--store', 'sqlite:./policy.db'];

      beforeAll(async () => {
        const done = await adjudicated('policy.db', '--runs', data('runs.jsonl'));
        expect(done.code).toBe(0);
        report = done.report;
      });

      test('calls get the rulings in docs/airline.md; the ledger verifies', () => {
        const refused = Object.values(report.rejected).reduce((sum, n) => sum + n, 0);
        expect({
          ...report,
          rejected: refused,
          results: report.results.length,
          seconds: 0,
        }).toEqual({
          runs: 100,
          proposals: 121,
          committed: 47,
          rejected: 32,
          escalated: 9,
          tool_errors: 33,
          // The base, a branch for each run, a ruling for each call, and a resolution for each
          // escalation.
          entries: 1 + 100 + 121 + 9,
          verified: true,
          seconds: 0,
          results: 100,
        });
        expect(report.rejected['CANCELLATION_GROUND']).toBe(8);
      });

      test('verify says so too, from the file alone', async () => {
        const { code, out } = await assize('verify', '--json', ...store);
        expect(code).toBe(0);
        expect(JSON.parse(out)).toMatchObject({ valid: true, trajectories: 101, entries: 231 });
      });

      test('the state hash of a run is that of the state which its ledger folds into', async () => {
        const changed = report.results.filter(({ calls }) =>
          calls.some(({ ruling }) => ruling === 'committed'),
        );
        const unchanged = report.results.filter((run) => !changed.includes(run));
        expect(new Set(unchanged.map(({ state_hash }) => state_hash)).size).toBe(1);
        for (const { trajectory_id, state_hash } of [
          changed[0],
          changed.at(-1),
          unchanged[0],
        ] as typeof changed) {
          const { out } = await assize('state', trajectory_id, '--json', ...store);
          const { flights, reservations, users } = JSON.parse(out).state;
          expect(contentHash({ flights, reservations, users }, WORLD_LIMITS)).toBe(state_hash);
        }
      });

      test('nothing stays pending, and escalated calls were rejected by name', async () => {
        expect(JSON.parse((await assize('pending', '--json', ...store)).out)).toEqual({
          pending: [],
          expired: [],
          halted: [],
        });
        const run = report.results.find(({ calls }) =>
          calls.some(({ ruling }) => ruling === 'escalated'),
        );
        const { out } = await assize('log', run?.trajectory_id as string, '--json', ...store);
        expect(JSON.parse(out).log).toContainEqual(
          expect.objectContaining({ reason: 'counselor_rejected', counselor: 'supervisor:cli' }),
        );
      });
    });

    test('with --escalations approve escalated calls commit as the counselor’s', async () => {
      const { code, report } = await adjudicated(
        'approve.db',
        ...['--runs', data('runs.jsonl'), '--escalations', 'approve'],
      );
      expect(code).toBe(0);
      const resolved = report.results.flatMap(({ calls }) =>
        calls.flatMap((call) => call.resolved ?? []),
      );
      expect(resolved).toEqual(Array(9).fill('approved'));
      expect(report).toMatchObject({ escalated: 9, verified: true });
    });
  },
);
